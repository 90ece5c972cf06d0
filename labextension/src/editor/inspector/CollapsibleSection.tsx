// Section of the inspector that can be collapsed; the state applies to all layers.
import { ReactNode, useState } from 'react';

import { Icon } from '../../ui/Icon';
import { useEditorContext } from '../context';

export interface CollapsibleSectionProps {
  /** Key of the stored state. */
  name: string;
  title: string;
  children: ReactNode;
}

export function CollapsibleSection({
  name,
  title,
  children
}: CollapsibleSectionProps) {
  const { closed } = useEditorContext();
  const [isOpen, setOpen] = useState(!closed.has(name));
  const toggle = () => {
    if (isOpen) {
      closed.add(name);
    } else {
      closed.delete(name);
    }
    setOpen(!isOpen);
  };
  return (
    <section className="labdl-section">
      <h3>
        <button type="button" aria-expanded={isOpen} onClick={toggle}>
          <Icon name="chevron" />
          {title}
        </button>
      </h3>
      {isOpen && children}
    </section>
  );
}
