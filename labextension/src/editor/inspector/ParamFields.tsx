// Form of a node's parameters; changes apply immediately.
import Form from '@rjsf/core';
import validator from '@rjsf/validator-ajv8';
import { useEffect, useMemo, useRef, useState } from 'react';

import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import {
  FORM_FIELDS,
  FORM_TEMPLATES,
  FORM_WIDGETS
} from '../../forms/form-templates';
import { Json, LayerSchema, NodeData } from '../model/graph-data';
import {
  changedParams,
  paramForm,
  visibleParams
} from '../../forms/param-form';
import { fieldKind } from '../../forms/param-schema';

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
  const form = useMemo(() => paramForm(params), [params]);

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
      const isText = fieldKind(params.properties?.[key] ?? {}) === 'text';
      const typing = isText ? `param ${id} ${key}` : undefined;
      document.setParam(id, key, value, typing);
    });
    if (changes.size) {
      setTyped(new Map());
    }
  };
  // Applies pending input when another node is selected.
  useEffect(() => () => flush.current(), []);

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

  const change = (data: { [key: string]: Json | undefined }) => {
    const changes = changedParams(params, shown, data);
    if (!changes.size) {
      return;
    }
    changes.forEach((value, key) => waiting.current.set(key, value));
    setTyped(new Map(waiting.current));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => flush.current(), WAIT);
  };

  return (
    <Form
      // Enter would submit a <form>.
      tagName="div"
      className="labdl-form"
      idPrefix="labdl"
      schema={form.schema}
      uiSchema={form.uiSchema}
      formData={shown}
      validator={validator}
      fields={FORM_FIELDS}
      templates={FORM_TEMPLATES}
      widgets={FORM_WIDGETS}
      formContext={{ trans }}
      noValidate
      onChange={event =>
        change(event.formData as { [key: string]: Json | undefined })
      }
      onBlur={() => {
        flush.current();
        document.endTyping();
      }}
    >
      <></>
    </Form>
  );
}
