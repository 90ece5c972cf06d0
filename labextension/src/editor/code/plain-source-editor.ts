// Plain text area for source code, for hosts without a code editor.
import { SourceEditor, SourceEditorOptions } from './source-editor';

const INDENT = '    ';

export function plainSource(
  element: HTMLElement,
  { label, changed }: SourceEditorOptions
): SourceEditor {
  const area = document.createElement('textarea');
  area.className = 'labdl-code-area';
  area.spellcheck = false;
  area.autocapitalize = 'off';
  area.setAttribute('autocomplete', 'off');
  area.setAttribute('aria-label', label);
  area.wrap = 'off';
  area.addEventListener('input', () => changed(area.value));
  area.addEventListener('keydown', event => {
    // Escape leaves the field, so that Tab does not trap the keyboard focus.
    const isTab = event.key === 'Tab' && !event.ctrlKey && !event.altKey;
    if (isTab && !area.readOnly && !event.shiftKey) {
      event.preventDefault();
      area.setRangeText(INDENT, area.selectionStart, area.selectionEnd, 'end');
      changed(area.value);
    }
  });
  element.append(area);
  return {
    setText(text) {
      if (text !== area.value) {
        const { selectionStart, scrollTop } = area;
        area.value = text;
        area.setSelectionRange(selectionStart, selectionStart);
        area.scrollTop = scrollTop;
      }
    },
    mark: line => area.setAttribute('aria-invalid', String(line !== null)),
    setReadOnly(isReadOnly) {
      area.readOnly = isReadOnly;
    },
    focus: () => area.focus(),
    dispose: () => area.remove()
  };
}
