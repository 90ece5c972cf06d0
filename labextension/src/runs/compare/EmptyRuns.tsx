// Message of a folder without runs: how to start one.

import { useState } from 'react';
import type { Translator } from '../../ui/translator';

const CODE = `from labdl import train

trainer = train.Trainer(
    model, loss="cross_entropy", optimizer="adam", metrics=["accuracy"]
)
run = trainer.start(x, y, validation=(x_val, y_val), epochs=10)
`;

interface EmptyRunsProps {
  folder: string;
  trans: Translator;
}

export function EmptyRuns({ folder, trans }: EmptyRunsProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(CODE);
    setCopied(true);
  };
  return (
    <div className="labdl-runs-empty">
      <h2>{trans.__('No training runs yet')}</h2>
      <p>
        {folder
          ? trans.__(
              'Runs that are started in %1 or its subfolders appear here automatically.',
              folder
            )
          : trans.__(
              'Runs that are started here or in a subfolder appear here automatically.'
            )}
      </p>
      <p>
        {trans.__(
          'Start a run with the Train button of a model graph, or in a notebook or script:'
        )}
      </p>
      <pre>
        <code>{CODE}</code>
      </pre>
      <button
        type="button"
        onClick={() => void copy().catch(() => setCopied(false))}
      >
        {isCopied ? trans.__('Copied') : trans.__('Copy')}
      </button>
    </div>
  );
}
