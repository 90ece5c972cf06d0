// All parts of a sample in the large view; the picture arrives in full size after its small one.

import { useCallback, useEffect, useState } from 'react';
import type { PartView, SampleView } from '../../api/data';
import type { Translator } from '../../ui/translator';
import type { DataHost } from '../host';
import { mediaUrl } from '../parts/media-url';
import { mainPart, Part } from '../parts/Part';
import type { LoadPart } from '../parts/Sound';
import { problemText } from '../problem-text';

/** Pictures up to this size are already whole. */
const WHOLE = 512;
/** Milliseconds on a sample before its large picture is requested. */
const STAY = 200;

interface SamplePartsProps {
  sample: SampleView;
  host: DataHost;
  classes: readonly string[];
  trans: Translator;
}

export function SampleParts(props: SamplePartsProps): JSX.Element {
  const { sample, host, trans } = props;
  const main = mainPart(sample.parts);
  const source = useFullSize(host, sample, main);
  const { index } = sample;
  const load = useCallback<LoadPart>(
    (entry, signal) => host.media({ index, entry }, signal),
    [host, index]
  );
  if (sample.problem) {
    return (
      <p className="labdl-data-problem" role="alert">
        {problemText(trans, sample.problem)}
      </p>
    );
  }
  const draw = (part: PartView) => (
    <figure key={part.name} data-kind={part.kind}>
      <figcaption>
        <b>{part.name}</b> {part.description}
      </figcaption>
      <Part
        part={part}
        alt={trans.__('%1 of %2', part.name, sample.name)}
        load={load}
        classes={props.classes}
        isTile={false}
        showsLabels
        source={part === main ? source : undefined}
        trans={trans}
      />
    </figure>
  );
  const others = sample.parts.filter(part => part !== main);
  return (
    <div className="labdl-data-parts" data-several={others.length > 0}>
      {main && draw(main)}
      {others.length > 0 && <div>{others.map(draw)}</div>}
    </div>
  );
}

/** Address of the picture in full size, once it is there. */
function useFullSize(
  host: DataHost,
  sample: SampleView,
  part: PartView | undefined
): string | undefined {
  const [source, setSource] = useState<string | undefined>();
  const isLarge =
    part?.kind === 'image' &&
    Math.max(part.width ?? 0, part.height ?? 0) > WHOLE;
  useEffect(() => {
    if (!isLarge) {
      return;
    }
    let url: string | undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      host.media({ index: sample.index, entry: part.name }, signal).then(
        answer => {
          if (!signal.aborted) {
            url = mediaUrl(answer);
            setSource(url);
          }
        },
        () => undefined // the small picture stays
      );
    }, STAY);
    return () => {
      controller.abort();
      clearTimeout(timer);
      if (url) {
        URL.revokeObjectURL(url);
      }
    };
  }, [host, sample, part, isLarge]);
  return source;
}
