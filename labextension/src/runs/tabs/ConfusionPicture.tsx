// Confusion matrix of many classes as an image, one small square for each cell.

import { useEffect, useRef, type MouseEvent } from 'react';
import { viridis } from '../charts/viridis';
import { rowSums, shade } from './confusion';
import type { Cell, MatrixProps } from './ConfusionMatrix';

const SIDE = 520;

export interface ConfusionPictureProps extends MatrixProps {
  point: (cell: Cell | null) => void;
}

export function ConfusionPicture(props: ConfusionPictureProps): JSX.Element {
  const { counts, order, isShare, point, trans } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const side = Math.max(2, Math.floor(SIDE / order.length));
  const size = side * order.length;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) {
      return; // no canvas in this browser: the list of mistakes is beside it
    }
    const sums = rowSums(counts);
    const most = Math.max(1, ...counts.flat());
    context.clearRect(0, 0, size, size);
    order.forEach((truth, row) =>
      order.forEach((predicted, column) => {
        const times = counts[truth][predicted];
        if (times) {
          const part = isShare ? times / sums[truth] : times / most;
          context.fillStyle = viridis(shade(part));
          context.fillRect(column * side, row * side, side, side);
        }
      })
    );
  }, [counts, order, isShare, side, size]);
  const onMouseMove = (event: MouseEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const place = (at: number, length: number) =>
      order[Math.floor((at / length) * order.length)];
    const truth = place(event.clientY - box.top, box.height);
    const predicted = place(event.clientX - box.left, box.width);
    point(
      truth === undefined || predicted === undefined
        ? null
        : { truth, predicted }
    );
  };
  return (
    <canvas
      ref={canvas}
      className="labdl-matrix-picture"
      width={size}
      height={size}
      role="img"
      aria-label={trans.__(
        'Confusion matrix of %1 classes; the most frequent mistakes are listed beside it',
        order.length
      )}
      onMouseMove={onMouseMove}
      onMouseLeave={() => point(null)}
    />
  );
}
