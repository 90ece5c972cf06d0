// System clipboard, with a fallback in memory if access is denied.

let memory = '';

export async function writeClipboard(text: string): Promise<void> {
  memory = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or a page without https: the copy in memory works within the page.
  }
}

/** The texts to try, the most likely first. */
export async function readClipboard(): Promise<string[]> {
  try {
    return [await navigator.clipboard.readText(), memory];
  } catch {
    // See above; text that was copied in this page can still be pasted in it.
    return [memory];
  }
}
