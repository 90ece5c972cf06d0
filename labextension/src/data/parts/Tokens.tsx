// Text in its tokens, each on a color of its own; a text without tokens is plain.

interface TokensProps {
  tokens: readonly string[];
  /** Most tokens that are drawn. */
  most: number;
}

const HUES = 5;

export function Tokens({ tokens, most }: TokensProps): JSX.Element {
  const shown = tokens.slice(0, most);
  return (
    <p className="labdl-data-tokens" dir="auto">
      {tokens.length === 1
        ? tokens[0].slice(0, most * 20)
        : shown.map((token, i) => (
            <span key={i} data-token={i % HUES}>
              {token}
            </span>
          ))}
      {tokens.length > most && '…'}
    </p>
  );
}
