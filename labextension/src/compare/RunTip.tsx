// What a run under the pointer is, beside the pointer.

import { settingWord } from './words';
import type { AxisChoice } from './axes';
import { title, type Brief } from './source';

interface RunTipProps {
  run: Brief;
  axes: readonly AxisChoice[];
  at: { left: number; top: number };
  width: number;
}

export function RunTip({ run, axes, at, width }: RunTipProps): JSX.Element {
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
          <span>{axis.label}</span> <b>{settingWord(axis.value(run))}</b>
        </div>
      ))}
    </div>
  );
}
