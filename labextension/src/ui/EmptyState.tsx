// What a tab says that has nothing to show: what would be here, and when.

export function EmptyState({ children }: { children: string }): JSX.Element {
  return <p className="labdl-dashboard-empty labdl-tab-empty">{children}</p>;
}
