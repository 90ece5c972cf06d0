// The system's clipboard, with a memory of our own for where it is refused.

let memory = '';

export async function writeClipboard(text: string): Promise<void> {
  memory = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or a page without https: the memory serves this page.
  }
}

/** The texts to try, the most likely first. */
export async function readClipboard(): Promise<string[]> {
  try {
    return [await navigator.clipboard.readText(), memory];
  } catch {
    // See above; what was copied in this page can still be pasted in it.
    return [memory];
  }
}
