// Names of other users who have selected a node, in their colors.
import { CSSProperties, useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';

export function CollaboratorNames({ id }: { id: string }) {
  const { people, trans } = useEditorContext();
  const found = useSyncExternalStore(people.subscribe, () => people.at(id));
  if (!found.length) {
    return null;
  }
  const names = found.map(person => person.name).join(', ');
  return (
    <div className="labdl-visitors" style={inColor(found[0].color)}>
      <span title={trans.__('Selected by %1', names)}>
        {found.map(({ name, color }, n) => (
          <span key={n} style={inColor(color)}>
            {name}
          </span>
        ))}
      </span>
    </div>
  );
}

function inColor(color: string): CSSProperties {
  return { '--labdl-visitor': color } as CSSProperties;
}
