// Changes of a graph by one gesture, as plain data.
import { EdgeData, Json, NodeData, NoteData, Position } from './graph-data';

export interface NewNode {
  type: string;
  /** Position; by default a free one. */
  position?: Position;
  params?: { [key: string]: Json };
  /** Path of the block that contains the node. */
  home?: string;
}

/** Changes around a node that is being added. */
export interface Around {
  /** Edges into the new node and out of it. */
  incoming?: Omit<EdgeData, 'target'>[];
  outgoing?: Omit<EdgeData, 'source'>[];
  /** Ids of edges that these edges replace. */
  replaced?: string[];
  /** New positions of nodes that make room. */
  moved?: { [id: string]: Position };
}

/** New values of parts of a graph; null removes a part. */
export interface Change {
  nodes?: { [id: string]: NodeData | null };
  edges?: { [id: string]: EdgeData | null };
  positions?: { [id: string]: Position | null };
  groups?: { [path: string]: string | null };
  ties?: { [name: string]: string | null };
  notes?: { [id: string]: NoteData | null };
}
