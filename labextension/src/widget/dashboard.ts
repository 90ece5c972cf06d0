// Dashboard as a widget: one connection to the kernel per model, one React root per view.

import type { AnyModel } from '@anywidget/types';
import { createElement } from 'react';
import { Dashboard } from '../runs/dashboard/Dashboard';
import { liveOrSnapshot } from './live-or-snapshot';
import { mount } from './mount';
import { pageTranslator } from './page-translator';
import { WidgetRunSource } from './run-source';

/** Called once per model; its views share the objects created here. */
function dashboardWidget() {
  let source: WidgetRunSource | undefined;
  return {
    initialize({ model }: { model: AnyModel }) {
      const created = new WidgetRunSource(model);
      source = created;
      return () => created.dispose();
    },
    render({ model, el }: { model: AnyModel; el: HTMLElement }) {
      if (!source) {
        throw new Error(
          'The dashboard was rendered before it was initialized.'
        );
      }
      return mount(
        el,
        'labdl-widget',
        createElement(Dashboard, { source, trans: pageTranslator(model) })
      ).unmount;
    }
  };
}

/** Entry point of anywidget. */
export default liveOrSnapshot(dashboardWidget);
