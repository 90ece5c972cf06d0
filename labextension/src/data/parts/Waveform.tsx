// Waveform of a sound from the least and greatest values of its sections.

import { memo } from 'react';

interface WaveformProps {
  sections: readonly [number, number][];
  /** Share that was played. */
  played?: number;
}

export const Waveform = memo(function Waveform(
  props: WaveformProps
): JSX.Element {
  const { sections, played } = props;
  return (
    <svg
      className="labdl-data-waveform"
      viewBox={`0 -1 ${Math.max(1, sections.length)} 2`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={outline(sections)} />
      {played !== undefined && (
        <line
          x1={played * sections.length}
          x2={played * sections.length}
          y1={-1}
          y2={1}
        />
      )}
    </svg>
  );
});

/** Along the greatest values and back along the least; silence is still a line. */
function outline(sections: readonly [number, number][]): string {
  const thin = 0.01;
  const up = sections.map(([, high], i) => point(i, -Math.max(high, thin)));
  const down = sections
    .map(([low], i) => point(i, -Math.min(low, -thin)))
    .reverse();
  return sections.length ? `M${[...up, ...down].join('L')}Z` : '';
}

function point(i: number, y: number): string {
  return `${i + 0.5} ${Number(y.toFixed(4))}`;
}
