// Comparison of the runs of a race: the same training on several backends, step by step.

import type { Curve } from '../store/decimation';
import type { RunCurves } from './curves';
import { look, type Look } from './line-styles';
import type { OverlayLine } from './overlay-data';
import type { Brief } from './runs-source';
import type { CurvesByPath } from './useCurves';

/** Runs of a race in a fixed order, so that their line styles do not depend on which started first. */
export function sortByBackend(runs: readonly Brief[]): Brief[] {
  return [...runs].sort((a, b) => raceName(a).localeCompare(raceName(b)));
}

export function raceName(run: Brief): string {
  return run.backend ?? run.id;
}

/** Line styles by path; different dashes keep lines visible that lie on each other. */
export function raceLooks(runs: readonly Brief[]): ReadonlyMap<string, Look> {
  return new Map(sortByBackend(runs).map(({ path }, i) => [path, look(i, i)]));
}

/** Absolute difference of two curves at their common steps. */
export function difference(curve: Curve, other: Curve): Curve {
  const x: number[] = [];
  const y: number[] = [];
  let at = 0;
  for (let i = 0; i < curve.x.length; i++) {
    while (at < other.x.length && other.x[at] < curve.x[i]) {
      at++;
    }
    if (at < other.x.length && other.x[at] === curve.x[i]) {
      x.push(curve.x[i]);
      y.push(Math.abs(curve.y[i] - other.y[at]));
    }
  }
  return { x, y };
}

/** Differences of an unsmoothed metric between each run and a reference. */
export function differenceLines(
  curves: CurvesByPath,
  runs: readonly Brief[],
  reference: string,
  figure: string
): OverlayLine[] {
  const other = curves.get(reference)?.curve(figure, 'step', 'none');
  return runs.flatMap((run): OverlayLine[] => {
    const own = run.path === reference ? null : curves.get(run.path)?.curve(figure, 'step', 'none'); // prettier-ignore
    const curve = own && other ? difference(own, other) : null;
    return curve?.x.length ? [{ owner: run.path, role: 'train', curve }] : [];
  });
}

/** Largest difference so far; null where nothing can be compared. */
export function largest(line: OverlayLine | undefined): number | null {
  const finite = line ? Array.from(line.curve.y).filter(Number.isFinite) : [];
  return finite.length ? finite.reduce((a, b) => Math.max(a, b)) : null;
}

export interface Cost {
  /** Samples per second. */
  readonly throughput: number | null;
  /** Bytes. */
  readonly memory: number | null;
  readonly gpuMemory: number | null;
}

/** Latest measurements of speed and memory. */
export function costOf(curves: RunCurves | undefined): Cost {
  return {
    throughput: curves?.throughput.last() ?? null,
    memory: curves?.memory.last() ?? null,
    gpuMemory: curves?.gpuMemory.last() ?? null
  };
}

export function bytesWord(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10))); // prettier-ignore
  return `${Number((bytes / 2 ** (10 * power)).toPrecision(3))} ${units[power]}`;
}
