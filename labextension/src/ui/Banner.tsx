// A bar over the whole editor that says how the document is, and what a person can do about it.
import { ReactNode } from 'react';

import { Icon, IconName } from './Icon';

export interface BannerProps {
  icon: IconName;
  /** Buttons after the text. */
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
