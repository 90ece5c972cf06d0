// A development page: the dashboard over a made-up run, chosen by ?case= in the address.
import { createRoot } from 'react-dom/client';
import { Dashboard } from '../src/runs/dashboard/Dashboard';
import { plainTranslator } from '../src/ui/translator';
import { SyntheticRun } from './synthetic-run';
import '../style/dashboard.css';

const query = new URLSearchParams(location.search);
document.body.dataset.jpThemeLight = String(query.get('theme') !== 'dark');

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <Dashboard
      source={new SyntheticRun(query.get('case') ?? 'live')}
      trans={plainTranslator}
    />
  );
}
