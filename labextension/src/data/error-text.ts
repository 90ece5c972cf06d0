// The message of an error of any kind.

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a request was given up by the page itself. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
