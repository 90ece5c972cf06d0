// The picture of a finished run, asked for again while the run's last lines are not yet read or the server is busy.

export interface RunSnapshot {
  svg: string;
  /** It shows the run as it was in the end. */
  final: boolean;
}

/** The final picture, or null where it is no longer needed or does not come after `tries` requests, `wait` ms apart. */
export async function fetchFinalSnapshot(
  fetch: () => Promise<RunSnapshot>,
  isNeeded: () => boolean,
  { wait = 1000, tries = 5 } = {}
): Promise<string | null> {
  for (let attempt = 0; attempt < tries && isNeeded(); attempt++) {
    if (attempt) {
      await new Promise(resolve => setTimeout(resolve, wait));
    }
    try {
      const { svg, final } = await fetch();
      if (final) {
        return isNeeded() ? svg : null;
      }
    } catch {
      // The server may be busy or restarting.
    }
  }
  return null;
}
