// Shows an error of one tab in its place; the rest of the dashboard keeps working.

import { Component, type ReactNode } from 'react';
import type { Translator } from './translator';

interface ErrorBoundaryProps {
  trans: Translator;
  children: ReactNode;
}

export class ErrorBoundary extends Component<
  ErrorBoundaryProps,
  { error: Error | null }
> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? (
      <p className="labdl-dashboard-message" role="alert">
        {this.props.trans.__(
          'This view could not be displayed: %1',
          error.message
        )}
      </p>
    ) : (
      this.props.children
    );
  }
}
