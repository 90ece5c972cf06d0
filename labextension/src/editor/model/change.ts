// What a gesture changes of a graph, as plain data.
import { EdgeData, Json, NodeData, NoteData, Position } from './graph-data';

export interface NewNode {
  type: string;
  /** Where it is drawn; without one, where there is room. */
  position?: Position;
  params?: { [key: string]: Json };
  /** The block that it stands in. */
  home?: string;
}

/** What changes around a node that is being added. */
export interface Around {
  /** Edges into the new node and out of it. */
  incoming?: Omit<EdgeData, 'target'>[];
  outgoing?: Omit<EdgeData, 'source'>[];
  /** Edges that give way to these. */
  replaced?: string[];
  /** New places of nodes that make room. */
  moved?: { [id: string]: Position };
}

/** Parts of a graph as they will be; null takes a thing away. */
export interface Change {
  nodes?: { [id: string]: NodeData | null };
  edges?: { [id: string]: EdgeData | null };
  positions?: { [id: string]: Position | null };
  groups?: { [path: string]: string | null };
  ties?: { [name: string]: string | null };
  notes?: { [id: string]: NoteData | null };
}
