// Ports on one side of a node, and their measurement.
import {
  Handle,
  Position as Side,
  useUpdateNodeInternals
} from '@xyflow/react';
import { CSSProperties, useEffect, useRef } from 'react';

import { Ports } from '../model/connect';

interface PortListProps {
  kind: 'source' | 'target';
  side: Side;
  ports: {
    name: string;
    label?: string;
    variadic?: boolean;
    optional?: boolean;
  }[];
}

export function PortList({ kind, side, ports }: PortListProps) {
  const isAcross = side === Side.Top || side === Side.Bottom;
  return ports.map((port, index) => {
    const at = `${((index + 0.5) / ports.length) * 100}%`;
    const place: CSSProperties = isAcross ? { left: at } : { top: at };
    const kinds = [
      port.variadic ? 'labdl-mod-variadic' : '',
      port.optional ? 'labdl-mod-optional' : ''
    ].join(' ');
    return (
      <Handle
        key={port.name}
        id={port.name}
        type={kind}
        position={side}
        style={place}
        role="img"
        className={`labdl-port ${kinds}`}
        title={port.label ?? port.name}
        aria-label={port.label ?? port.name}
      >
        {ports.length > 1 && (
          <span className="labdl-port-name">{port.label ?? port.name}</span>
        )}
      </Handle>
    );
  });
}

/** Measures the ports again when they change. */
export function useMeasuredPorts(id: string, ports: Ports): void {
  const updateInternals = useUpdateNodeInternals();
  const portNames = JSON.stringify(ports);
  const measured = useRef(portNames);
  useEffect(() => {
    // Edges end at the measured positions of the ports.
    // Not on mount, since React Flow measures all new nodes together.
    if (measured.current !== portNames) {
      measured.current = portNames;
      updateInternals(id);
    }
  }, [id, portNames, updateInternals]);
}
