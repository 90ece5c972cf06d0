// Parameters of the selected layer, from the file or from the kernel's model.
import { useEffect, useRef, useState } from 'react';

import { Button } from '../../ui/Button';
import { useEditorContext } from '../context';
import { ArrayStatistics } from './ArrayStatistics';
import { CollapsibleSection } from './CollapsibleSection';
import { WeightsAnswer } from '../samples/inspection-data';
import { GraphData } from '../model/graph-data';

export interface WeightsProps {
  /** The layer that owns the parameters. */
  name: string;
  /** Full names of tied parameters that belong to other layers. */
  tied: string[];
  graph: GraphData;
}

export function Weights(props: WeightsProps) {
  const { trans } = useEditorContext();
  return (
    <CollapsibleSection name="weights" title={trans.__('Weights')}>
      <Contents {...props} />
    </CollapsibleSection>
  );
}

type Found = WeightsAnswer | { problem: string } | null;

function Contents({ name, tied, graph }: WeightsProps) {
  const { host, trans } = useEditorContext();
  const [found, setFound] = useState<Found>(null);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(graph);
  latest.current = graph;
  const asked = JSON.stringify([name, ...tied]);
  useEffect(() => {
    let isWanted = true;
    const tell = (found: Found) => isWanted && setFound(found);
    host
      .weights?.(JSON.parse(asked), latest.current)
      .then(tell, (error: unknown) =>
        // any failure must be visible to the user
        tell({
          problem: error instanceof Error ? error.message : String(error)
        })
      );
    return () => {
      isWanted = false;
    };
  }, [host, asked, attempt]);

  if (found === null) {
    return (
      <p className="labdl-quiet labdl-waiting">
        {trans.__('Reading the parameters…')}
      </p>
    );
  }
  if ('problem' in found) {
    return (
      <div role="alert">
        <p className="labdl-field-error">{found.problem}</p>
        <Button onClick={() => setAttempt(attempt + 1)}>
          {trans.__('Try again')}
        </Button>
      </div>
    );
  }
  return <Answer answer={found} name={name} />;
}

function Answer({ answer, name }: { answer: WeightsAnswer; name: string }) {
  const { trans } = useEditorContext();
  const { file, saved, parameters } = answer;
  if (parameters.length === 0) {
    return (
      <p className="labdl-quiet">
        {file !== null
          ? trans.__(
              '%1 has no parameters for this layer: it was saved before the layer was added or renamed.',
              file
            )
          : answer.source === 'file'
            ? trans.__(
                'No parameters yet: train the model or save it from Python with labdl.save.'
              )
            : trans.__(
                'No parameters yet: editor.model() builds the model in the notebook.'
              )}
      </p>
    );
  }
  return (
    <>
      {parameters.map(parameter => (
        <ArrayStatistics
          key={parameter.name}
          name={
            parameter.name.startsWith(`${name}/`)
              ? parameter.name.slice(name.length + 1)
              : parameter.name
          }
          figures={parameter}
        />
      ))}
      {answer.left_out > 0 && (
        <p className="labdl-quiet">
          {trans._n(
            'and %1 more parameter',
            'and %1 more parameters',
            answer.left_out
          )}
        </p>
      )}
      {file !== null && saved !== null && (
        <p className="labdl-quiet">
          {trans.__('From %1, saved %2', file, dateText(saved))}
        </p>
      )}
    </>
  );
}

function dateText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short'
  });
}
