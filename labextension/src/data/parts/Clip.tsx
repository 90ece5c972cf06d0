// A clip: a few of its frames as a running picture, and a button that plays all of them.

import { useCallback } from 'react';
import { Icon } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import { Picture, type PictureProps } from './Picture';
import { PlayButton } from './PlayButton';
import type { LoadPart } from './Sound';
import { usePlayer } from './usePlayer';

interface ClipProps extends PictureProps {
  /** The same function as long as it is about the same sample. */
  load: LoadPart;
  trans: Translator;
}

export function Clip({ load, trans, ...picture }: ClipProps): JSX.Element {
  const { part, alt } = picture;
  const player = usePlayer(
    useCallback(signal => load(part.name, signal), [load, part.name]),
    trans
  );
  const { media, problem } = player;
  return (
    <div className="labdl-data-film">
      <Picture
        {...picture}
        film={
          media.src && (
            <video {...media} aria-label={alt} loop muted playsInline />
          )
        }
      />
      <PlayButton player={player} about={alt} trans={trans} />
      {problem && (
        <p role="alert" className="labdl-data-tile-problem" title={problem}>
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      )}
    </div>
  );
}
