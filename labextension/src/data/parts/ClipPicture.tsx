// A clip as a running picture; people who prefer less motion see its first frame until they point at it.

import { useEffect, useRef, useState } from 'react';

interface ClipPictureProps {
  source: string;
  alt: string;
}

export function ClipPicture({ source, alt }: ClipPictureProps): JSX.Element {
  const isQuiet = usesReducedMotion();
  const [runs, setRuns] = useState(!isQuiet);
  const still = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!isQuiet) {
      return;
    }
    // the tile around the picture has the pointer and the focus
    const tile =
      frame.current?.closest<HTMLElement>('[data-tile]') ?? frame.current;
    const run = () => setRuns(true);
    const rest = () => setRuns(false);
    const pairs = [
      ['pointerenter', run],
      ['focusin', run],
      ['pointerleave', rest],
      ['focusout', rest]
    ] as const;
    pairs.forEach(([name, hear]) => tile?.addEventListener(name, hear));
    return () =>
      pairs.forEach(([name, hear]) => tile?.removeEventListener(name, hear));
  }, [isQuiet]);
  useEffect(() => {
    if (runs) {
      return;
    }
    const image = new Image();
    image.onload = () => {
      const canvas = still.current;
      if (canvas) {
        canvas.width = image.naturalWidth;
        canvas.height = image.naturalHeight;
        canvas.getContext('2d')?.drawImage(image, 0, 0);
      }
    };
    image.src = source;
    return () => {
      image.onload = null;
    };
  }, [runs, source]);
  return (
    <span ref={frame} className="labdl-data-clip" data-runs={runs}>
      {runs ? (
        <img src={source} alt={alt} draggable={false} />
      ) : (
        <canvas ref={still} role="img" aria-label={alt} />
      )}
    </span>
  );
}

function usesReducedMotion(): boolean {
  return (
    typeof matchMedia === 'function' &&
    matchMedia('(prefers-reduced-motion: reduce)').matches
  );
}
