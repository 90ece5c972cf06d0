// Form of a node's parameters; changes apply immediately.
import { useEffect, useMemo, useRef, useState } from 'react';

import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { FormFields } from '../../forms/FormFields';
import { Json, LayerSchema, NodeData } from '../model/graph-data';
import { fieldKind } from '../../forms/param-schema';
import { ownValue, visibleParams } from '../../forms/param-values';
import { sameJson } from '../../forms/same-json';

/** Milliseconds before a change is applied, so that the field redraws first. */
const WAIT = 16;

type Changes = Map<string, Json | undefined>;

export interface ParamFieldsProps {
  document: GraphDocument;
  id: string;
  node: NodeData;
  schema: LayerSchema;
}

export function ParamFields({ document, id, node, schema }: ParamFieldsProps) {
  const { trans } = useEditorContext();
  const params = schema.schema;

  /** Input that is not yet in the document. */
  const [typed, setTyped] = useState<Changes>(new Map());
  const waiting = useRef<Changes>(new Map());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const flush = useRef(() => undefined as void);
  flush.current = () => {
    clearTimeout(timer.current);
    const changes = waiting.current;
    waiting.current = new Map();
    changes.forEach((value, key) => {
      const kind = fieldKind(params.properties?.[key] ?? {});
      const isTyped = kind === 'text' || kind === 'call';
      const typing = isTyped ? `param ${id} ${key}` : undefined;
      document.setParam(id, key, value, typing);
    });
    if (changes.size) {
      setTyped(new Map());
    }
  };
  // Applies pending input when the model is saved, and when another node is selected.
  useEffect(() => {
    const apply = () => flush.current();
    document.typedChanges.add(apply);
    return () => {
      document.typedChanges.delete(apply);
      apply();
    };
  }, [document]);

  const shown = useMemo(() => {
    const own = { ...node.params };
    typed.forEach((value, key) => {
      if (value === undefined) {
        delete own[key];
      } else {
        own[key] = value;
      }
    });
    return visibleParams(params, own);
  }, [node.params, params, typed]);

  const change = (key: string, value: Json | undefined) => {
    if (sameJson(shown[key], value)) {
      return;
    }
    waiting.current.set(key, ownValue(params, key, value));
    setTyped(new Map(waiting.current));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => flush.current(), WAIT);
  };

  return (
    <FormFields
      idPrefix="labdl"
      schema={params}
      values={shown}
      trans={trans}
      onChange={change}
      onBlur={() => {
        flush.current();
        document.endTyping();
      }}
    />
  );
}
