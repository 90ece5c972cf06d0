// A development page: the data view over a made-up data set, chosen by ?case= in the address.
import { createRoot } from 'react-dom/client';
import { DataView } from '../src/data/DataView';
import { plainTranslator } from '../src/ui/translator';
import { SyntheticData } from './synthetic-data';
import '../style/data.css';

const query = new URLSearchParams(location.search);
document.body.dataset.jpThemeLight = String(query.get('theme') !== 'dark');

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <DataView
      host={new SyntheticData(query.get('case') ?? 'pictures')}
      trans={plainTranslator}
    />
  );
}
