// JupyterLab's code editor for the source of a model.

import {
  EditorState,
  RangeSet,
  StateEffect,
  StateField
} from '@codemirror/state';
import {
  Decoration,
  DecorationSet,
  EditorView,
  gutterLineClass,
  GutterMarker
} from '@codemirror/view';
import { CodeEditor, IEditorServices } from '@jupyterlab/codeeditor';

import type { MakeSourceEditor } from '../../editor';

const setLine = StateEffect.define<number | null>();

const PROBLEM = 'labdl-code-problem';
const lineMark = Decoration.line({ class: PROBLEM });

class ProblemMarker extends GutterMarker {
  override elementClass = PROBLEM;
}

/** Marks the line with a problem until the text changes. */
const problemLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setLine)) {
        return markAt(transaction.state, effect.value);
      }
    }
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: field => [
    EditorView.decorations.from(field),
    gutterLineClass.compute([field], state => {
      const marker = new ProblemMarker();
      const ranges: ReturnType<typeof marker.range>[] = [];
      state.field(field).between(0, state.doc.length, from => {
        ranges.push(marker.range(from));
      });
      return RangeSet.of(ranges);
    })
  ]
});

function markAt(state: EditorState, line: number | null): DecorationSet {
  return line === null || line < 1 || line > state.doc.lines
    ? Decoration.none
    : Decoration.set(lineMark.range(state.doc.line(line).from));
}

export function codeMirrorSource(services: IEditorServices): MakeSourceEditor {
  return (element, { label, changed }) => {
    const model = new CodeEditor.Model({ mimeType: 'text/x-python' });
    const editor = services.factoryService.newDocumentEditor({
      host: element,
      model,
      config: { lineNumbers: true, lineWrap: false },
      extensions: [
        problemLine,
        EditorView.contentAttributes.of({ 'aria-label': label })
      ]
    });
    let isOurs = false;
    const tell = () => {
      if (!isOurs) {
        changed(model.sharedModel.getSource());
      }
    };
    model.sharedModel.changed.connect(tell);
    return {
      setText(text) {
        if (text !== model.sharedModel.getSource()) {
          const { line, column } = editor.getCursorPosition();
          isOurs = true;
          model.sharedModel.setSource(text);
          isOurs = false;
          // the text may have become shorter since
          const row = Math.min(line, editor.lineCount - 1);
          const end = editor.getLine(row)?.length ?? 0;
          editor.setCursorPosition(
            { line: row, column: Math.min(column, end) },
            { scroll: false }
          );
        }
      },
      mark: line => view(editor)?.dispatch({ effects: setLine.of(line) }),
      setReadOnly: isReadOnly => editor.setOption('readOnly', isReadOnly),
      focus: () => editor.focus(),
      dispose: () => {
        model.sharedModel.changed.disconnect(tell);
        editor.dispose();
        model.dispose();
        model.sharedModel.dispose();
      }
    };
  };
}

/** The CodeMirror view of an editor, which is not part of its interface. */
function view(editor: CodeEditor.IEditor): EditorView | undefined {
  const { editor: inner } = editor as CodeEditor.IEditor & {
    editor?: EditorView;
  };
  return inner;
}
