// System clipboard, with a fallback in memory if access is denied.

let memory = '';
/** Whether the clipboard received what is in memory. */
let isStored = true;

export async function writeClipboard(text: string): Promise<void> {
  memory = text;
  try {
    await navigator.clipboard.writeText(text);
    isStored = true;
  } catch {
    // No permission, or a page without https: the copy in memory works within the page.
    isStored = false;
  }
}

export interface ClipboardTexts {
  /** The texts to try, the most likely first. */
  texts: string[];
  /** Whether the page may not read the clipboard, so that they are only what was copied in this page. */
  isOwn: boolean;
}

export async function readClipboard(): Promise<ClipboardTexts> {
  try {
    const text = await navigator.clipboard.readText();
    return { texts: isStored ? [text] : [text, memory], isOwn: false };
  } catch {
    // See above; text that was copied in this page can still be pasted in it.
    return { texts: [memory], isOwn: true };
  }
}
