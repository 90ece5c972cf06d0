// Names and values in two columns.

export interface NameValue {
  readonly name: string;
  readonly value: string;
}

export interface NameValueListProps {
  title?: string;
  facts: readonly NameValue[];
}

export function NameValueList({
  title,
  facts
}: NameValueListProps): JSX.Element {
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
