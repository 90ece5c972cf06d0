// Properties of the selected block: name, class, contents and actions.
import { useState, useSyncExternalStore } from 'react';

import { EditorActions } from '../commands/actions';
import { Button } from '../../ui/Button';
import { Form } from '../../ui/Form';
import { useEditorContext } from '../context';
import { CostFacts, sumOfCosts } from '../inspector/Costs';
import { GraphDocument } from '../model/document';
import { fullCount } from '../model/shape-format';
import { takenNames } from '../model/fragment';
import { renameBlock } from './grouping';
import { GraphData } from '../model/graph-data';
import { NameField } from '../inspector/NameField';
import { refuseName, refuseWord } from '../inspector/name-refusal';
import { normalName } from '../model/naming';
import { isInside, parentOf, wordOf } from '../model/paths';

export interface BlockDetailsProps {
  actions: EditorActions;
  document: GraphDocument;
  graph: GraphData;
  path: string;
  isFolded: boolean;
}

export function BlockDetails(props: BlockDetailsProps) {
  const { actions, document, graph, path, isFolded } = props;
  const { checks, trans } = useEditorContext();
  useSyncExternalStore(checks.subscribe, checks.state);
  const members = Object.keys(graph.nodes).filter(id =>
    isInside(graph.nodes[id].name, path)
  );
  const costs = sumOfCosts(members.map(id => checks.node(id)));
  const kind = graph.groups?.[path] ?? '';
  const home = parentOf(path);

  const refuse = (word: string) => {
    const isTaken = (full: string) =>
      full !== path && takenNames(graph).has(full);
    return refuseName(word, { home, isIndex: true, isTaken }, trans);
  };
  const refuseClass = (word: string) =>
    word === '' ? null : refuseWord(word, trans);

  return (
    <>
      <h2 className="labdl-inspector-title">{trans.__('Block')}</h2>
      <p className="labdl-inspector-summary">
        {trans.__('A group of layers; in Python, a class.')}
      </p>
      <NameField
        key={`name ${path}`}
        id="labdl-block-name"
        label={trans.__('Name')}
        value={wordOf(path)}
        refuse={refuse}
        normalize={normalName}
        commitOnLeave
        onChange={word => {
          document.patch(renameBlock(graph, path, word));
          setTimeout(() =>
            actions.selectBlock(home ? `${home}/${word}` : word)
          );
        }}
        onDone={() => document.endTyping()}
      />
      <NameField
        key={`class ${path}`}
        id="labdl-block-class"
        label={trans.__('Class')}
        value={kind}
        refuse={refuseClass}
        normalize={normalName}
        commitOnLeave
        onChange={word => document.patch({ groups: { [path]: word } })}
        onDone={() => document.endTyping()}
      />
      <dl className="labdl-facts">
        <div>
          <dt>{trans.__('Layers')}</dt>
          <dd>{fullCount(members.length)}</dd>
        </div>
        <CostFacts costs={costs} />
      </dl>
      <div className="labdl-inspector-buttons">
        <Button
          onClick={() => (isFolded ? actions.unfold(path) : actions.fold(path))}
        >
          {isFolded ? trans.__('Expand') : trans.__('Collapse')}
        </Button>
        <Button onClick={() => actions.enter(path)}>{trans.__('Enter')}</Button>
        <Button onClick={() => actions.ungroup(path)}>
          {trans.__('Ungroup')}
        </Button>
        <Button
          title={trans.__('Add this block to the palette')}
          onClick={() => actions.keepBlock(path)}
        >
          {trans.__('Save to palette')}
        </Button>
        <Button onClick={actions.deleteSelection}>{trans.__('Delete')}</Button>
      </div>
      <Repeat path={path} actions={actions} />
    </>
  );
}

const MOST = 100;

function Repeat({ path, actions }: { path: string; actions: EditorActions }) {
  const { trans } = useEditorContext();
  const [text, setText] = useState('2');
  const times = Number(text);
  const isRight = Number.isInteger(times) && times >= 2 && times <= MOST;
  return (
    <Form
      className="labdl-field labdl-repeat"
      onSubmit={() => {
        if (isRight) {
          actions.repeat(path, times);
        }
      }}
    >
      <label htmlFor="labdl-repeat">{trans.__('Repetitions')}</label>
      <div className="labdl-repeat-line">
        <input
          id="labdl-repeat"
          className="labdl-input"
          type="number"
          min={2}
          max={MOST}
          value={text}
          aria-invalid={!isRight}
          onChange={event => setText(event.target.value)}
        />
        <Button type="submit" disabled={!isRight}>
          {trans.__('Repeat')}
        </Button>
      </div>
    </Form>
  );
}
