// Output shapes of a node, beside the ports where its edges start.
import { CSSProperties } from 'react';

import { Ports } from '../model/connect';
import { useEditorContext } from '../context';
import { shapeText } from '../model/shape-format';
import { TensorSpec } from '../model/graph-data';

interface OutputShapesProps {
  ports: Ports['outputs'];
  specOf: (port: string) => TensorSpec | undefined;
}

export function OutputShapes({ ports, specOf }: OutputShapesProps) {
  const { trans } = useEditorContext();
  const room = { '--labdl-ports': ports.length } as CSSProperties;
  return (
    <div className="labdl-node-shape" style={room}>
      {ports.map(({ name, label }, index) => {
        const spec = specOf(name);
        const text = spec && shapeText(spec.shape, trans.__('one number'));
        return (
          spec && (
            <span
              key={name}
              style={{ '--labdl-port': index } as CSSProperties}
              title={trans.__('%1: %2, %3', label ?? name, text, spec.dtype)}
            >
              {ports.length > 1 && <b>{label ?? name} </b>}
              {text}
            </span>
          )
        );
      })}
    </div>
  );
}
