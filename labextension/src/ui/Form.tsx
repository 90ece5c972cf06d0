// Form that Enter submits in every host.

import { forwardRef, type ComponentProps, type KeyboardEvent } from 'react';

export interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** Called instead of loading the page anew. */
  onSubmit: () => void;
}

/** Types of `<input>` on which Enter does something else than to submit. */
const OWN_ENTER = ['button', 'color', 'file', 'image', 'reset', 'submit'];

/**
 * A browser may leave out the submission by Enter, as Chromium does in the cells of JupyterLab,
 * so the form submits itself under the rules of browsers.
 */
export const Form = forwardRef<HTMLFormElement, FormProps>(function Form(
  { onSubmit, onKeyDown, ...props },
  ref
) {
  return (
    <form
      ref={ref}
      {...props}
      onSubmit={event => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={event => {
        onKeyDown?.(event);
        if (submits(event)) {
          event.preventDefault(); // else the browser would submit a second time
          submit(event.currentTarget);
        }
      }}
    />
  );
});

function submits(event: KeyboardEvent<HTMLFormElement>): boolean {
  const { target } = event;
  return (
    event.key === 'Enter' &&
    !event.defaultPrevented &&
    !event.ctrlKey &&
    !event.metaKey &&
    !event.altKey &&
    target instanceof HTMLInputElement &&
    !OWN_ENTER.includes(target.type)
  );
}

function submit(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>('[type="submit"]');
  if (!button?.disabled) {
    form.requestSubmit(button);
  }
}
