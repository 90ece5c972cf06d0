// Button that stops all active runs of a folder and shows errors.

import { useState } from 'react';
import type { Translator } from '../../ui/translator';
import type { Brief, RunsSource } from './runs-source';

interface StopAllProps {
  source: RunsSource;
  /** Runs that receive the command; for a sweep ".", since it would start further trials. */
  paths: readonly string[];
  runs: readonly Brief[];
  trans: Translator;
}

export function StopAll(props: StopAllProps): JSX.Element {
  const { source, paths, runs, trans } = props;
  const [trouble, setTrouble] = useState<string | null>(null);
  const stop = async () => {
    setTrouble(null);
    const results = await Promise.allSettled(
      paths.map(path => source.run(path).command('stop'))
    );
    const failed = results.find(result => result.status === 'rejected');
    if (failed?.status === 'rejected') {
      const { reason } = failed;
      setTrouble(reason instanceof Error ? reason.message : `${reason}`);
    }
  };
  return (
    <div className="labdl-stop-all">
      <button
        type="button"
        disabled={!runs.some(run => run.alive)}
        onClick={() => void stop()}
      >
        {trans.__('Stop all')}
      </button>
      {trouble && <span role="alert">{trouble}</span>}
    </div>
  );
}
