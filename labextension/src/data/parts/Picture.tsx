// A picture with its masks, boxes and key points drawn over it.

import type { CSSProperties, ReactNode } from 'react';
import type { PartView } from '../../api/data';
import { colorOf } from './label-colors';
import { ClipPicture } from './ClipPicture';

export interface PictureProps {
  part: PartView;
  /** Another source of the same picture, in full size. */
  source?: string;
  /** In the place of the picture. */
  film?: ReactNode;
  alt: string;
  classes: readonly string[];
  showsLabels: boolean;
}

export function Picture(props: PictureProps): JSX.Element {
  const { part, source, film, alt, classes, showsLabels } = props;
  const { width = 0, height = 0, boxes = [], points = [], mask } = part;
  const ratio = width > 0 && height > 0 ? width / height : 1;
  const isSmall = width > 0 && width <= 64;
  return (
    <div className="labdl-data-room">
      <div
        className="labdl-data-picture"
        data-pixels={isSmall || undefined}
        style={{ '--labdl-ratio': ratio } as CSSProperties}
      >
        {film ||
          (part.kind === 'video' ? (
            <ClipPicture source={part.picture ?? ''} alt={alt} />
          ) : (
            <img src={source ?? part.picture} alt={alt} draggable={false} />
          ))}
        {mask && (
          <img
            className="labdl-data-mask"
            src={mask}
            alt=""
            draggable={false}
          />
        )}
        {(boxes.length > 0 || points.length > 0) && (
          <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
            {boxes.map((box, i) => (
              <g key={i} data-hue={colorOf(box.label, classes)}>
                <rect
                  className="labdl-data-halo"
                  x={box.left}
                  y={box.top}
                  width={box.width}
                  height={box.height}
                />
                <rect
                  x={box.left}
                  y={box.top}
                  width={box.width}
                  height={box.height}
                />
              </g>
            ))}
            {points.map(([x, y], i) => (
              <g key={i} className="labdl-data-point">
                <path className="labdl-data-halo" d={`M${x} ${y}h0`} />
                <path d={`M${x} ${y}h0`} />
              </g>
            ))}
          </svg>
        )}
        {showsLabels &&
          boxes.map(
            (box, i) =>
              box.label && (
                <span
                  key={i}
                  className="labdl-data-box-label"
                  data-hue={colorOf(box.label, classes)}
                  style={labelPlace(box.left, box.top)}
                >
                  {box.label}
                </span>
              )
          )}
      </div>
    </div>
  );
}

/** Above the box; inside it at the upper edge of the picture. */
function labelPlace(left: number, top: number): CSSProperties {
  return {
    left: `${Math.max(0, Math.min(0.9, left)) * 100}%`,
    top: `${Math.max(0, top) * 100}%`,
    transform: top > 0.08 ? 'translateY(-100%)' : undefined
  };
}
