// A part of a sample, drawn by its kind.

import type { PartView } from '../../api/data';
import type { Translator } from '../../ui/translator';
import { Clip } from './Clip';
import { Picture } from './Picture';
import { Sound, type LoadPart } from './Sound';
import { Tokens } from './Tokens';
import { Waveform } from './Waveform';

export interface PartProps {
  part: PartView;
  /** Words for those who do not see the picture. */
  alt: string;
  /** Loads the whole part; missing where there is no room to play it. */
  load?: LoadPart;
  classes: readonly string[];
  /** In a tile there is no room for controls and long texts. */
  isTile: boolean;
  showsLabels: boolean;
  /** Picture in full size. */
  source?: string;
  trans: Translator;
}

const MOST_TOKENS = { tile: 60, full: 4000 };

export function Part(props: PartProps): JSX.Element {
  const { part, isTile, load } = props;
  switch (part.kind) {
    case 'image':
      return <Picture {...props} />;
    case 'video':
      return load ? <Clip {...props} load={load} /> : <Picture {...props} />;
    case 'audio':
      return load ? (
        <Sound {...props} load={load} />
      ) : (
        <div className="labdl-data-sound">
          <Waveform sections={part.waveform ?? []} />
          {part.picture && <img src={part.picture} alt={props.alt} />}
        </div>
      );
    case 'text':
      return (
        <Tokens
          tokens={part.tokens?.length ? part.tokens : [part.text ?? '']}
          most={isTile ? MOST_TOKENS.tile : MOST_TOKENS.full}
        />
      );
    case 'values':
      return (
        <pre className="labdl-data-values" tabIndex={isTile ? undefined : 0}>
          {part.text ?? ''}
        </pre>
      );
  }
}

/** The part by which people know a sample: its picture, clip or sound before texts and numbers. */
export function mainPart(parts: readonly PartView[]): PartView | undefined {
  const order: PartView['kind'][] = ['image', 'video', 'audio', 'text'];
  return (
    order.map(kind => parts.find(part => part.kind === kind)).find(Boolean) ??
    parts[0]
  );
}
