// Tooltip of the run under the pointer.

import { settingLabel } from './run-text';
import type { AxisChoice } from './axes';
import { title, type Brief } from './runs-source';

interface RunTooltipProps {
  run: Brief;
  axes: readonly AxisChoice[];
  at: { left: number; top: number };
  width: number;
}

export function RunTooltip({
  run,
  axes,
  at,
  width
}: RunTooltipProps): JSX.Element {
  const side =
    at.left > width / 2
      ? { right: width - at.left + 12 }
      : { left: at.left + 12 };
  return (
    <div
      className="labdl-run-tip"
      style={{ ...side, top: Math.max(0, at.top - 20) }}
    >
      <b>{title(run)}</b>
      {axes.map(axis => (
        <div key={axis.id}>
          <span>{axis.label}</span> <b>{settingLabel(axis.value(run))}</b>
        </div>
      ))}
    </div>
  );
}
