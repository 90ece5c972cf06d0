// Toolbar over the canvas: undo, redo, arrange, code and the host's buttons.
import { Panel } from '@xyflow/react';
import { ReactNode, useSyncExternalStore } from 'react';

import { EditorActions } from './commands/actions';
import { ActivationButtons } from './samples/ActivationButtons';
import { useEditorContext } from './context';
import { GraphDocument } from './model/document';
import { HealthButton } from './health/HealthButton';
import { IconButton } from '../ui/Icon';
import { labelWithKeys } from './commands/key-bindings';
import { Direction } from './canvas/node-size';
import { useLock } from './model/useLock';

export interface ToolbarProps {
  document: GraphDocument;
  actions: EditorActions;
  direction: Direction;
  children?: ReactNode;
}

export function Toolbar(props: ToolbarProps) {
  const { document, actions, direction } = props;
  const isLocked = useLock(document) !== null;
  const { host, shortcuts, trans } = useEditorContext();
  const withKeys = (label: string, command: string) =>
    labelWithKeys(label, command, shortcuts);
  const { subscribeHistory, canUndo, canRedo } = document;
  const mayUndo = useSyncExternalStore(subscribeHistory, canUndo);
  const mayRedo = useSyncExternalStore(subscribeHistory, canRedo);
  const isDown = direction === 'down';
  return (
    <Panel position="top-left">
      <div
        className="labdl-toolbar nokey"
        role="toolbar"
        aria-label={trans.__('Edit the model')}
      >
        <IconButton
          icon="undo"
          label={withKeys(trans.__('Undo'), 'undo')}
          disabled={!mayUndo}
          onClick={actions.undo}
        />
        <IconButton
          icon="redo"
          label={withKeys(trans.__('Redo'), 'redo')}
          disabled={!mayRedo}
          onClick={actions.redo}
        />
        <span className="labdl-toolbar-gap" />
        <IconButton
          icon="plus"
          label={withKeys(trans.__('Add a layer'), 'add-layer')}
          disabled={isLocked}
          onClick={() => actions.openMenu()}
        />
        <IconButton
          icon="note"
          label={withKeys(trans.__('Add a note'), 'add-note')}
          disabled={isLocked}
          onClick={actions.addNote}
        />
        {host.classes && (
          <IconButton
            icon="kernel"
            label={trans.__('Add a class from the kernel')}
            disabled={isLocked}
            onClick={() => void actions.offerClasses()}
          />
        )}
        <IconButton
          icon="layout"
          label={trans.__('Arrange the layers')}
          disabled={isLocked}
          onClick={() => actions.autoLayout()}
        />
        <IconButton
          icon={isDown ? 'right' : 'down'}
          label={
            isDown
              ? trans.__('Arrange from left to right')
              : trans.__('Arrange from top to bottom')
          }
          disabled={isLocked}
          onClick={() => actions.autoLayout(isDown ? 'right' : 'down')}
        />
        <IconButton
          icon="search"
          label={withKeys(trans.__('Find layers'), 'find')}
          onClick={actions.find}
        />
        <IconButton
          icon="code"
          label={trans.__('Show the Python code')}
          onClick={actions.showCode}
        />
        <ActivationButtons />
        <HealthButton />
        {props.children}
      </div>
    </Panel>
  );
}
