// A sound: its waveform and mel spectrogram, and a button that plays it.

import { useCallback } from 'react';
import type { PartView } from '../../api/data';
import { Icon } from '../../ui/Icon';
import { formatDuration } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import { PlayButton } from './PlayButton';
import { usePlayer, type LoadMedia } from './usePlayer';
import { Waveform } from './Waveform';

export type LoadPart = (
  entry: string,
  signal: AbortSignal
) => ReturnType<LoadMedia>;

interface SoundProps {
  part: PartView;
  /** Words for those who do not see the waveform. */
  alt: string;
  /** The same function as long as it is about the same sample. */
  load: LoadPart;
  isTile: boolean;
  trans: Translator;
}

export function Sound(props: SoundProps): JSX.Element {
  const { part, alt, load, isTile, trans } = props;
  const player = usePlayer(
    useCallback(signal => load(part.name, signal), [load, part.name]),
    trans
  );
  return (
    <div className="labdl-data-sound">
      <Waveform sections={part.waveform ?? []} played={player.played} />
      {part.picture && (
        <img src={part.picture} alt={trans.__('Mel spectrogram')} />
      )}
      <audio {...player.media} />
      <div className="labdl-data-sound-bar">
        <PlayButton
          player={player}
          about={isTile ? alt : undefined}
          trans={trans}
        />
        <span>{formatDuration(part.seconds ?? 0)}</span>
      </div>
      {player.problem && (
        <p
          role="alert"
          title={player.problem}
          className={isTile ? 'labdl-data-tile-problem' : undefined}
        >
          {isTile && <Icon name="warning" />}
          <span>{player.problem}</span>
        </p>
      )}
    </div>
  );
}
