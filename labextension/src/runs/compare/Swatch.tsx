// Sample of a run's line for the legend.

import type { Look } from './line-styles';

export function Swatch({ look }: { look: Look | undefined }): JSX.Element {
  return (
    <svg className="labdl-swatch" viewBox="0 0 18 6" aria-hidden="true">
      {look && (
        <path
          d="M0 3H18"
          style={{ stroke: look.color }}
          strokeDasharray={look.dash.join(' ')}
        />
      )}
    </svg>
  );
}
