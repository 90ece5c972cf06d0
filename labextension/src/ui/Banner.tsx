// Bar above the editor with the state of the document and buttons to act on it.
import { ReactNode } from 'react';

import { Icon, IconName } from './Icon';

export interface BannerProps {
  icon: IconName;
  /** Buttons behind the text. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Banner({ icon, actions, children }: BannerProps) {
  return (
    <div className="labdl-bar" role="status">
      <Icon name={icon} />
      <p className="labdl-bar-text">{children}</p>
      {actions}
    </div>
  );
}
