// Text of a tab without content.

export function EmptyState({ children }: { children: string }): JSX.Element {
  return <p className="labdl-dashboard-empty labdl-tab-empty">{children}</p>;
}
