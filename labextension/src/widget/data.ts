// Data view as a widget: one connection to the kernel per model, one React root per view.

import type { AnyModel } from '@anywidget/types';
import { createElement } from 'react';
import { DataView } from '../data/DataView';
import { takesDataKey } from '../data/takes-key';
import { WidgetDataHost } from './data-host';
import { DataRequests } from './data-requests';
import { liveOrSnapshot } from './live-or-snapshot';
import { mountTall } from './mount';
import { pageTranslator } from './page-translator';

interface DataTraits {
  height: number;
}

/** Called once per model; its views share the objects created here. */
function dataWidget() {
  let host: WidgetDataHost | undefined;
  return {
    initialize({ model }: { model: AnyModel<DataTraits> }) {
      const requests = new DataRequests(model, pageTranslator(model));
      host = new WidgetDataHost(requests);
      return () => requests.dispose();
    },
    render({ model, el }: { model: AnyModel<DataTraits>; el: HTMLElement }) {
      if (!host) {
        throw new Error('The data were rendered before they were initialized.');
      }
      const content = createElement(DataView, {
        host,
        trans: pageTranslator(model)
      });
      return mountTall(model, el, content, takesDataKey);
    }
  };
}

/** Entry point of anywidget. */
export default liveOrSnapshot(dataWidget);
