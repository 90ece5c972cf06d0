// Names and values in two columns.

export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface FactsProps {
  title?: string;
  facts: readonly Fact[];
}

export function Facts({ title, facts }: FactsProps): JSX.Element {
  return (
    <section className="labdl-tab-section">
      {title && <h3>{title}</h3>}
      <dl className="labdl-facts">
        {facts.map(({ name, value }, index) => (
          <div key={index}>
            <dt title={name}>
              <bdi>{name}</bdi>
            </dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
