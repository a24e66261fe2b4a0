/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between ropecheck and an attention or rotation kernel. C99, no dependency.
 *
 * A backend is a shared library that exports one symbol,
 *     const ropecheck_backend* ropecheck_backend_entry(uint32_t abi_major);
 * which returns its function table, or NULL for an ABI major that it does not know.
 *
 * Rules for both sides
 * - Every struct starts with `struct_size`, set by whoever fills it. New fields are appended; a reader
 *   must not touch fields beyond the size that it was given. Fields named `reserved` are 0.
 * - Every pointer belongs to the caller of the function and lives until that function returns; a table
 *   of rope tensors given to `open` lives until `close`. A NULL tensor pointer means "not given".
 * - Nothing is allocated, freed, thrown or printed across the boundary. A function that cannot serve a
 *   call writes one sentence into `message` (NUL-terminated, at most message_size bytes) and returns
 *   ROPECHECK_UNSUPPORTED, or another status for an error.
 * - Calls on one session come one after the other, from any thread. Sessions are independent and may
 *   be used at once.
 * - Only outputs and caches are written; only cache slots that slot_mapping names.
 *
 * Versions
 * - 1.0: first version.
 *   Minor grows when fields or functions are appended, major when a meaning changes.
 */
#ifndef ROPECHECK_BACKEND_H
#define ROPECHECK_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROPECHECK_ABI_MAJOR 1u
#define ROPECHECK_ABI_MINOR 0u

#if defined(_WIN32)
#define ROPECHECK_EXPORT __declspec(dllexport)
#else
#define ROPECHECK_EXPORT __attribute__((visibility("default")))
#endif

typedef int32_t ropecheck_status;
#define ROPECHECK_OK 0          /* done */
#define ROPECHECK_UNSUPPORTED 1 /* not served by this backend; no failure */
#define ROPECHECK_INVALID 2     /* the arguments contradict each other */
#define ROPECHECK_ERROR 3       /* anything else went wrong */

/* Element types. */
#define ROPECHECK_DTYPE_F64 1
#define ROPECHECK_DTYPE_F32 2
#define ROPECHECK_DTYPE_F16 3
#define ROPECHECK_DTYPE_BF16 4
#define ROPECHECK_DTYPE_I32 5
#define ROPECHECK_DTYPE_I64 6
#define ROPECHECK_DTYPE_U8 7
#define ROPECHECK_DTYPE_I8 8
#define ROPECHECK_DTYPE_F8_E4M3 9
#define ROPECHECK_DTYPE_F8_E5M2 10

#define ROPECHECK_MAX_RANK 6

/* A strided view. Strides are in elements and may be any; the last one need not be 1. */
typedef struct ropecheck_tensor {
  uint32_t struct_size;
  int32_t dtype;
  int32_t rank;
  int32_t device_type; /* 0: host memory */
  int32_t device_id;
  int32_t reserved;
  void* data;
  int64_t shape[ROPECHECK_MAX_RANK];
  int64_t stride_elems[ROPECHECK_MAX_RANK];
  const struct ropecheck_tensor* scale; /* of int8 and float8 elements, else NULL */
} ropecheck_tensor;

/* ---- what is computed ------------------------------------------------------------------------ */

/* In which form the rope is handed over. What is handed cannot be the backend's fault. */
#define ROPECHECK_ROPE_RULE 1     /* type and parameters: the backend computes inv_freq */
#define ROPECHECK_ROPE_INV_FREQ 2 /* inv_freq: the backend computes angles, cos and sin */
#define ROPECHECK_ROPE_TABLES 3   /* cos and sin, magnitude included: the backend only rotates */
#define ROPECHECK_ROPE_ROTATED 4  /* query and key come rotated: the backend does not rotate */

#define ROPECHECK_ROPE_TYPE_DEFAULT 1 /* inv_freq[i] = rope_theta^(-2i/rotary_dim) */
#define ROPECHECK_ROPE_TYPE_LINEAR 2  /* the same, divided by factor */

#define ROPECHECK_PAIR_HALF_SPLIT 1  /* pair i: channels i and i + rotary_dim/2 */
#define ROPECHECK_PAIR_INTERLEAVED 2 /* pair i: channels 2i and 2i + 1 */

#define ROPECHECK_TABLE_HALF 1 /* cos, sin [.., rotary_dim/2] */
#define ROPECHECK_TABLE_FULL \
  2 /* cos, sin [.., rotary_dim]: the value of a pair at both its channels */
#define ROPECHECK_TABLE_JOINED \
  3 /* cos [.., rotary_dim] holds cos of all pairs, then sin; sin is NULL */

#define ROPECHECK_TABLE_BY_POSITION 1 /* row p of ropecheck_rope.cos is position p */
#define ROPECHECK_TABLE_BY_TOKEN 2    /* rows come with each call, one for each token */

typedef struct ropecheck_rope {
  uint32_t struct_size;
  int32_t form;      /* ROPECHECK_ROPE_* */
  int32_t rope_type; /* ROPECHECK_ROPE_TYPE_*; set whatever the form */
  int32_t pair_layout;
  int32_t rotary_dim;    /* rotated channels, even */
  int32_t rotary_offset; /* first rotated channel; the others are copied */
  int32_t num_axes;      /* position axes; 1 for text */
  int32_t table_width;   /* ROPECHECK_TABLE_HALF, _FULL, _JOINED */
  int32_t table_index;   /* ROPECHECK_TABLE_BY_* */
  int32_t reserved;
  double rope_theta;
  double factor;                    /* linear: positions are divided by it; 1 otherwise */
  int64_t original_max_position;    /* trained length [tokens] */
  double magnitude_q;               /* factor on rotated query channels */
  double magnitude_k;               /* factor on rotated key channels */
  const ropecheck_tensor* inv_freq; /* [rotary_dim/2] F32 or F64, rad/token */
  const ropecheck_tensor* cos;      /* [max_position, width] */
  const ropecheck_tensor* sin;
  const char* parameters; /* further parameters as "key=value" lines, or NULL */
} ropecheck_rope;

#define ROPECHECK_CACHE_NONE 1    /* every call brings all keys, unrotated */
#define ROPECHECK_CACHE_CALLER 2  /* the caller's tensors; the backend writes the named slots */
#define ROPECHECK_CACHE_BACKEND 3 /* the backend keeps it, by sequence id */

#define ROPECHECK_CACHE_CONTIGUOUS 1 /* [rows, capacity, num_kv_heads, dim] */
#define ROPECHECK_CACHE_PAGED_NHD 2  /* [pages, page_size, num_kv_heads, dim] */
#define ROPECHECK_CACHE_PAGED_HND 3  /* [pages, num_kv_heads, page_size, dim] */
#define ROPECHECK_CACHE_RING 4       /* contiguous, slot = index modulo capacity */

#define ROPECHECK_KEYS_ROTATED 1   /* cached keys carry their rotation */
#define ROPECHECK_KEYS_UNROTATED 2 /* cached keys are rotated whenever they are read */

#define ROPECHECK_PADS_VALID_RANK 1 /* a position counts the tokens before it; pads count nothing */
#define ROPECHECK_PADS_PHYSICAL_COLUMN 2 /* a position is a column; pads consume positions */

#define ROPECHECK_SEGMENTS_RESTART 1  /* each packed segment starts at first_position */
#define ROPECHECK_SEGMENTS_CONTINUE 2 /* positions run on over the pack */

#define ROPECHECK_SEGMENTS_ISOLATED 1 /* a query sees keys of its own segment only */
#define ROPECHECK_SEGMENTS_SHARED 2   /* it sees those of earlier segments of the pack, too */

#define ROPECHECK_EMPTY_ROW_ZEROS 1 /* a query that sees no key gives zeros, and lse -infinity */

#define ROPECHECK_VISIBILITY_CAUSAL 1 /* keys at or before the query in the order of the sequence */

#define ROPECHECK_POSITIONS_GIVEN 1 /* by position_ids */
#define ROPECHECK_POSITIONS_DERIVED \
  2 /* from keep_mask, cu_seqlens and state; position_ids are NULL */

#define ROPECHECK_MASK_KEEP_2D 1 /* U8, 1 = token, 0 = pad or unused slot */

#define ROPECHECK_FORM_PADDED 1 /* [rows, columns, heads, dim], rows of different length padded */
#define ROPECHECK_FORM_PACKED 2 /* [tokens, heads, dim], rows delimited by cu_seqlens */

#define ROPECHECK_CALL_ROTATE 1u
#define ROPECHECK_CALL_STEP 2u
#define ROPECHECK_CALL_FORWARD 4u
#define ROPECHECK_CALL_EDIT_CACHE 8u
#define ROPECHECK_CALL_READ_CACHE 16u

/* One model and the contract it is used by: what is right. */
typedef struct ropecheck_model {
  uint32_t struct_size;
  int32_t num_layers;
  int32_t num_q_heads;
  int32_t num_kv_heads; /* query head h uses kv head h / (num_q_heads / num_kv_heads) */
  int32_t head_dim;
  int32_t v_head_dim;
  int32_t storage_dtype; /* of query, key, value and outputs */
  int32_t cache_dtype;
  int32_t cache_owner;  /* ROPECHECK_CACHE_NONE, _CALLER, _BACKEND */
  int32_t cache_layout; /* ROPECHECK_CACHE_CONTIGUOUS, ... */
  int32_t cached_keys;  /* ROPECHECK_KEYS_* */
  int32_t pad_positions;
  int32_t segment_positions;
  int32_t segment_visibility;
  int32_t empty_row;
  int32_t visibility;
  int32_t window_left;                /* keys visible before the query, -1: all */
  int32_t window_right;               /* keys visible after it, -1: all; 0 for causal */
  int32_t positions;                  /* ROPECHECK_POSITIONS_* */
  int32_t mask_form;                  /* ROPECHECK_MASK_* */
  int32_t index_dtype;                /* of every index tensor: I32 or I64 */
  int32_t num_threads;                /* how many threads a call may use */
  int64_t first_position;             /* position of the first token of a sequence */
  int64_t max_position;               /* every position is below it */
  int64_t max_sequences;              /* rows or sequence ids at once */
  int64_t max_tokens;                 /* slots of one sequence */
  double softmax_scale;               /* factor on query . key */
  double softcap;                     /* 0: none */
  const ropecheck_tensor* sinks;      /* [num_q_heads], or NULL */
  const ropecheck_rope* const* ropes; /* [num_layers] */
  const char* options;                /* the user's own, as "key=value" lines, or NULL */
} ropecheck_model;

/* How the calls of a session will look. Only what is asked of query_support. */
typedef struct ropecheck_usage {
  uint32_t struct_size;
  uint32_t calls;         /* ROPECHECK_CALL_* that will be made */
  int32_t forms;          /* bit 0: padded, bit 1: packed */
  int32_t strided_inputs; /* 1: query, key and value are views of one fused tensor */
  int32_t in_place;       /* 1: rotate writes onto its input */
  int32_t reserved;
} ropecheck_usage;

/* ---- calls ----------------------------------------------------------------------------------- */

typedef struct ropecheck_session ropecheck_session;

#define ROPECHECK_ROLE_QUERY 1
#define ROPECHECK_ROLE_KEY 2

/* output = input rotated. Outside the rotated channels output equals input, bit for bit. */
typedef struct ropecheck_rotate_args {
  uint32_t struct_size;
  int32_t layer;
  int32_t role;            /* ROPECHECK_ROLE_* (decides the magnitude) */
  int32_t inverse;         /* 1: rotate by minus the position */
  int32_t magnitude_power; /* how often the magnitude is applied: 1; 0 for a re-rotation */
  int32_t reserved;
  const ropecheck_tensor* input;        /* [rows, columns, heads, head_dim] */
  const ropecheck_tensor* position_ids; /* [rows, columns]; always given */
  const ropecheck_tensor* token_cos;    /* [rows, columns, width], tables by token only */
  const ropecheck_tensor* token_sin;
  const ropecheck_tensor* output; /* as input; the same memory when used in place */
  void* stream;
} ropecheck_rotate_args;

/*
 * One attention step over the new tokens of a batch.
 *
 * padded: query [rows, q_len, num_q_heads, head_dim]; packed: query [tokens, num_q_heads, head_dim],
 * row r is tokens cu_seqlens_q[r] .. cu_seqlens_q[r+1].
 *
 * cache none:    key, value hold all keys so far, the new ones last.
 *                padded: [rows, kv_len, ...]; query column c stands at kv column kv_len - q_len + c;
 *                keep_mask [rows, kv_len]. packed: row r is cu_seqlens_kv[r] .. [r+1], its queries
 *                are the last ones.
 * cache caller:  key, value hold the new tokens only, shaped like query. Token c of row r is written
 *                to slot slot_mapping[r][c] of row r of the caches (-1: a pad, not written). The order
 *                of slots is the order of the sequence. keep_mask [rows, kv_len] says which of the
 *                first kv_len slots hold visible tokens once this call has written; slots without are
 *                garbage. seq_lens[r] is the number of slots in use then.
 * cache backend: key, value hold the new tokens only. keep_mask [rows, q_len] tells tokens from pads;
 *                tokens are appended to the sequence sequence_ids[r]. A sequence id is new at its
 *                first use.
 * packed calls have no pads; only with a cache of the caller do they have a keep_mask, over its slots.
 *
 * A query sees the kept keys of its row up to and including its own token.
 *
 * Positions derived: position = first_position + number of tokens of the sequence before this one
 * (pads not counted; PADS_PHYSICAL_COLUMN: first_position + kv column, or slot, or, for a cache of
 * the backend, columns of this row in all calls so far). A shift of cached keys moves the next
 * position along with the last key; packed rows start and continue as the model says.
 *
 * Rows of outputs that belong to pads may hold anything.
 */
typedef struct ropecheck_step_args {
  uint32_t struct_size;
  int32_t layer;
  int32_t form; /* ROPECHECK_FORM_* */
  int32_t reserved;
  int64_t num_rows; /* rows of the batch, or packed segments */
  const ropecheck_tensor* query;
  const ropecheck_tensor* key;
  const ropecheck_tensor* value;            /* last dimension v_head_dim */
  const ropecheck_tensor* position_ids;     /* of queries: [rows, q_len] or [tokens] */
  const ropecheck_tensor* key_position_ids; /* of key; with a cache the same as position_ids */
  const ropecheck_tensor* keep_mask;
  const ropecheck_tensor* cu_seqlens_q;  /* [num_rows + 1] */
  const ropecheck_tensor* cu_seqlens_kv; /* [num_rows + 1] */
  const ropecheck_tensor* query_cos; /* tables by token: [rows, q_len, width] or [tokens, width] */
  const ropecheck_tensor* query_sin;
  const ropecheck_tensor* key_cos; /* the same for key */
  const ropecheck_tensor* key_sin;
  const ropecheck_tensor* key_cache;    /* [rows, capacity, num_kv_heads, head_dim] */
  const ropecheck_tensor* value_cache;  /* [rows, capacity, num_kv_heads, v_head_dim] */
  const ropecheck_tensor* slot_mapping; /* [rows, q_len] or [tokens] */
  const ropecheck_tensor* block_table;  /* paged caches only */
  const ropecheck_tensor* seq_lens;     /* [rows] */
  const ropecheck_tensor*
      cache_position_ids; /* [rows, kv_len]: of every slot; unrotated caller caches only */
  const ropecheck_tensor* sequence_ids; /* [rows] */
  /* outputs; NULL: not asked for. A backend that cannot offer an observation leaves it unwritten and
   * clears its bit in *offered. */
  const ropecheck_tensor* output;            /* [rows, q_len, num_q_heads, v_head_dim] or packed */
  const ropecheck_tensor* lse;               /* F32 [rows, q_len, num_q_heads], natural logarithm */
  const ropecheck_tensor* rotated_query;     /* as query */
  const ropecheck_tensor* rotated_key;       /* as key */
  const ropecheck_tensor* used_position_ids; /* I64, as position_ids */
  uint32_t* offered; /* in: ROPECHECK_OBSERVE_* asked for; out: those written */
  void* stream;
} ropecheck_step_args;

#define ROPECHECK_OBSERVE_LSE 1u
#define ROPECHECK_OBSERVE_ROTATED_QUERY 2u
#define ROPECHECK_OBSERVE_ROTATED_KEY 4u
#define ROPECHECK_OBSERVE_POSITION_IDS 8u

#define ROPECHECK_EDIT_SHIFT 1  /* positions of tokens [begin, end) += delta; keys are re-rotated */
#define ROPECHECK_EDIT_REMOVE 2 /* tokens [begin, end) go, later ones move up; positions stay */
#define ROPECHECK_EDIT_COPY 3   /* target_sequence_id becomes a copy */
#define ROPECHECK_EDIT_TRUNCATE 4 /* keep [0, begin) */
#define ROPECHECK_EDIT_DIVIDE \
  5 /* positions of [begin, end) /= divisor (floor); keys are re-rotated */
#define ROPECHECK_EDIT_FREE 6 /* forget the sequence */

/* Edit of a cache that the backend keeps. Ranges count tokens of the sequence, not positions.
 * The next position is one after that of the last token that is left. */
typedef struct ropecheck_edit_args {
  uint32_t struct_size;
  int32_t operation;
  int64_t sequence_id;
  int64_t target_sequence_id;
  int64_t begin;
  int64_t end;
  int64_t delta;
  int64_t divisor;
} ropecheck_edit_args;

/* Reads the cached keys of one sequence, in its order. */
typedef struct ropecheck_read_args {
  uint32_t struct_size;
  int32_t layer;
  int64_t sequence_id;
  const ropecheck_tensor*
      keys; /* [num_tokens, num_kv_heads, head_dim]; INVALID if the count differs */
  const ropecheck_tensor* values;       /* [num_tokens, num_kv_heads, v_head_dim], or NULL */
  const ropecheck_tensor* position_ids; /* I64 [num_tokens], or NULL */
} ropecheck_read_args;

/* A whole runtime: token ids in, logits out. */
typedef struct ropecheck_forward_args {
  uint32_t struct_size;
  int32_t reserved;
  const ropecheck_tensor* token_ids;    /* [rows, columns] */
  const ropecheck_tensor* keep_mask;    /* [rows, columns] */
  const ropecheck_tensor* position_ids; /* [rows, columns], or NULL: derive */
  const ropecheck_tensor* logits;       /* out: [rows, columns, vocabulary] */
} ropecheck_forward_args;

/* Bitwise classes that a backend may claim, and is then held to. */
#define ROPECHECK_CLAIM_RUN_TO_RUN_DETERMINISTIC 1u
#define ROPECHECK_CLAIM_BATCH_INVARIANT 2u
#define ROPECHECK_CLAIM_PADDING_INVARIANT 4u
#define ROPECHECK_CLAIM_CHUNK_INVARIANT 8u

/* The function table. A NULL function is a call that the backend does not have. */
typedef struct ropecheck_backend {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t claims;
  const char* name;        /* one word */
  const char* version;     /* free text */
  const char* description; /* one line */
  ropecheck_status (*query_support)(const ropecheck_model* model, const ropecheck_usage* usage,
                                    char* message, size_t message_size);
  ropecheck_status (*open)(const ropecheck_model* model, ropecheck_session** session, char* message,
                           size_t message_size);
  void (*close)(ropecheck_session* session);
  ropecheck_status (*rotate)(ropecheck_session* session, const ropecheck_rotate_args* args,
                             char* message, size_t message_size);
  ropecheck_status (*step)(ropecheck_session* session, const ropecheck_step_args* args,
                           char* message, size_t message_size);
  ropecheck_status (*edit_cache)(ropecheck_session* session, const ropecheck_edit_args* args,
                                 char* message, size_t message_size);
  ropecheck_status (*read_cache)(ropecheck_session* session, const ropecheck_read_args* args,
                                 char* message, size_t message_size);
  ropecheck_status (*forward)(ropecheck_session* session, const ropecheck_forward_args* args,
                              char* message, size_t message_size);
} ropecheck_backend;

typedef const ropecheck_backend* (*ropecheck_backend_entry_fn)(uint32_t abi_major);

#ifdef __cplusplus
}
#endif

#endif /* ROPECHECK_BACKEND_H */
