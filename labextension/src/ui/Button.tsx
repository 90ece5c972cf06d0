// A button with a word or two on it, as the editor draws them.
import { ComponentProps } from 'react';

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" className="labdl-button" {...props} />;
}
