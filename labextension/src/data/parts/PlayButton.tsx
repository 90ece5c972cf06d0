// Button that plays a sound or a clip, or pauses it.

import { Icon } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import type { Player } from './usePlayer';

interface PlayButtonProps {
  player: Player;
  /** Words for the sound or the clip, where there is no room for others; without them the button has its own. */
  about?: string;
  trans: Translator;
}

export function PlayButton(props: PlayButtonProps): JSX.Element {
  const { player, about, trans } = props;
  const isPlaying = player.state === 'playing';
  const words = isPlaying ? trans.__('Pause') : trans.__('Play');
  const label =
    about &&
    (isPlaying ? trans.__('Pause: %1', about) : trans.__('Play: %1', about));
  return (
    <button
      type="button"
      className="labdl-data-play"
      data-state={player.state}
      aria-label={label}
      title={label}
      aria-disabled={player.state === 'loading'}
      onClick={player.toggle}
    >
      <Icon name={isPlaying ? 'pause' : 'play'} />
      {!about && words}
    </button>
  );
}
