// What programs write for terminals, as the text that stands there in the end.

/** Escape sequences: colors, movements of the cursor, titles of windows. */
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
/** Control characters but for tab, line feed and carriage return. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Text without escape codes; of a line that was written again after a carriage return, the last version. */
export function terminalText(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
    .split('\n')
    .map(line => line.replace(/\r+$/, ''))
    .map(line => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}
