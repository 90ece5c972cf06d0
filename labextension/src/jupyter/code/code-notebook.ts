// Adds cells to an open notebook through its shared document.

import { YNotebook } from '@jupyter/ydoc';
import { DocumentWidget } from '@jupyterlab/docregistry';

export interface OpenNotebook {
  panel: DocumentWidget;
  cells: YNotebook;
}

/** The notebook in a widget of the shell, or null for any other widget. */
export function notebookIn(widget: unknown): OpenNotebook | null {
  if (!(widget instanceof DocumentWidget)) {
    return null;
  }
  const { sharedModel } = widget.context.model;
  return sharedModel instanceof YNotebook
    ? { panel: widget, cells: sharedModel }
    : null;
}

/** Inserts code into a new cell below the active one, or into the active one if it is empty, and activates it. */
export function addCell({ panel, cells }: OpenNotebook, source: string): void {
  const content = panel.content as { activeCellIndex?: number };
  const active = content.activeCellIndex ?? cells.cells.length - 1;
  const present = cells.cells[active];
  const isEmpty = present?.cell_type === 'code' && present.getSource() === '';
  const at = isEmpty ? active : active + 1;
  if (isEmpty) {
    present.setSource(source);
  } else {
    cells.insertCell(at, { cell_type: 'code', source });
  }
  content.activeCellIndex = at;
}
