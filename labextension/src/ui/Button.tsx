// Text button in the style of the editor.
import { ComponentProps } from 'react';

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" className="labdl-button" {...props} />;
}
