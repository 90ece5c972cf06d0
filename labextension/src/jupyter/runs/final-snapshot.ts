// Snapshot of a finished run, with retries while the server has not read the run's last lines or is busy.

export interface RunSnapshot {
  svg: string;
  /** Whether it shows the end of the run. */
  final: boolean;
}

/** Final snapshot, or null if it is no longer needed or missing after `tries` requests, `wait` ms apart. */
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
