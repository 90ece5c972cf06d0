// Settings of all charts: smoothing, horizontal axis, and reset of the zoom.

import { X_AXES, type XAxisName } from './x-axis';
import { SMOOTHINGS, type Smoothing } from '../store/smoothing';
import type { Translator } from '../../ui/translator';

export interface ChartToolsProps {
  smoothing: Smoothing;
  setSmoothing: (smoothing: Smoothing) => void;
  axis: XAxisName;
  setAxis: (axis: XAxisName) => void;
  /** Whether the run states how many steps an epoch has. */
  hasEpochs: boolean;
  isZoomed: boolean;
  resetZoom: () => void;
  trans: Translator;
}

export function ChartTools(props: ChartToolsProps): JSX.Element {
  const { trans } = props;
  const smoothings: Record<Smoothing, string> = {
    none: trans.__('None'),
    less: trans.__('Less'),
    normal: trans.__('Normal'),
    more: trans.__('More')
  };
  const axes: Record<XAxisName, string> = {
    step: trans.__('Steps'),
    epoch: trans.__('Epochs'),
    time: trans.__('Time')
  };
  return (
    <div
      className="labdl-chart-settings"
      role="group"
      aria-label={trans.__('Chart options')}
    >
      {props.isZoomed && (
        <button
          type="button"
          className="labdl-chart-reset"
          title={trans.__('Show the whole run (double click)')}
          onClick={props.resetZoom}
        >
          {trans.__('Reset zoom')}
        </button>
      )}
      <Choice
        label={trans.__('Smoothing')}
        all={SMOOTHINGS}
        words={smoothings}
        value={props.smoothing}
        choose={props.setSmoothing}
      />
      <Choice
        label={trans.__('Axis')}
        all={X_AXES.filter(name => name !== 'epoch' || props.hasEpochs)}
        words={axes}
        value={props.axis}
        choose={props.setAxis}
      />
    </div>
  );
}

function Choice<T extends string>(props: {
  label: string;
  all: readonly T[];
  words: Record<T, string>;
  value: T;
  choose: (value: T) => void;
}): JSX.Element {
  return (
    <label className="labdl-chart-choice">
      <span>{props.label}</span>
      <select
        value={props.value}
        onChange={event => props.choose(event.target.value as T)}
      >
        {props.all.map(name => (
          <option key={name} value={name}>
            {props.words[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
