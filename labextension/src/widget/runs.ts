// Runs of a folder as a widget: one connection to the kernel per model, one React root per view.

import type { AnyModel } from '@anywidget/types';
import { createElement } from 'react';
import { takesRowKey } from '../runs/compare/useRowKeys';
import { RunsView } from '../runs/compare/RunsView';
import { liveOrSnapshot } from './live-or-snapshot';
import { mount } from './mount';
import { pageTranslator } from './page-translator';
import { WidgetRunsSource } from './runs-source';

/** Called once per model; its views share the objects created here. */
function runsWidget() {
  let source: WidgetRunsSource | undefined;
  return {
    initialize({ model }: { model: AnyModel }) {
      const created = new WidgetRunsSource(model);
      source = created;
      return () => created.dispose();
    },
    render({ model, el }: { model: AnyModel; el: HTMLElement }) {
      if (!source) {
        throw new Error('The runs were rendered before they were initialized.');
      }
      return mount(
        el,
        'labdl-widget',
        createElement(RunsView, { source, trans: pageTranslator(model) }),
        takesRowKey
      ).unmount;
    }
  };
}

/** Entry point of anywidget. */
export default liveOrSnapshot(runsWidget);
