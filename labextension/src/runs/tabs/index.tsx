// Tabs of a dashboard besides the overview.

import type { TabViews } from '../store/reducers';
import type { RunSource } from '../store/source';
import type { Translator } from '../../ui/translator';
import { AlertsTab } from './AlertsTab';
import { ConfusionTab } from './ConfusionTab';
import { LayersTab } from './LayersTab';
import { LogTab } from './LogTab';
import { PredictionsTab } from './PredictionsTab';
import { SettingsTab } from './SettingsTab';
import { SystemTab } from './SystemTab';
import { TextTab } from './TextTab';
import { WorstTab } from './WorstTab';

export interface TabProps {
  view: TabViews;
  source: RunSource;
  trans: Translator;
  /** Shows a layer in the graph; missing where there is none. */
  onShow?: (layer: string) => void;
  /** Shows a step on the curves. */
  onStep?: (step: number) => void;
}

export interface Tab {
  readonly id: string;
  label(trans: Translator): string;
  /** Short text beside the label; null for none. */
  badge?(view: TabViews): string | null;
  readonly Content: (props: TabProps) => JSX.Element;
}

export const TABS: readonly Tab[] = [
  {
    id: 'layers',
    label: trans => trans.__('Layers'),
    Content: LayersTab
  },
  {
    id: 'predictions',
    label: trans => trans.__('Predictions'),
    Content: PredictionsTab
  },
  {
    id: 'confusion',
    label: trans => trans.__('Confusion'),
    Content: ConfusionTab
  },
  {
    id: 'worst',
    label: trans => trans.__('Worst samples'),
    Content: WorstTab
  },
  {
    id: 'text',
    label: trans => trans.__('Text'),
    Content: TextTab
  },
  {
    id: 'system',
    label: trans => trans.__('System'),
    Content: SystemTab
  },
  {
    id: 'settings',
    label: trans => trans.__('Settings and code'),
    Content: SettingsTab
  },
  {
    id: 'alerts',
    label: trans => trans.__('Alerts'),
    badge: ({ alerts }) => (alerts.length ? String(alerts.length) : null),
    Content: AlertsTab
  },
  {
    id: 'log',
    label: trans => trans.__('Log'),
    Content: LogTab
  }
];
