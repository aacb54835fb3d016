// The viewer in two layers: a draw list says what is to be seen (meshes, instances, no OpenGL), a renderer turns it
// into a picture (OpenGL 3.3 core, on screen or off). Both know the simulation through <tribo/tribo.h> only.
//
//     tribo_view_list_create(model, &list);  tribo_view_list_fill(list, model, data, &options);
//     tribo_view_offscreen_create(&context); tribo_view_renderer_create(list, &renderer);
//     tribo_view_renderer_draw(renderer, list, &camera, &image);   tribo_view_image_write(&image, "out.png");
//
// A call that fails leaves one sentence in tribo_view_error(), whether the cause lies here or in the engine.
#pragma once

#include <tribo/tribo.h>

#ifdef __cplusplus
extern "C" {
#endif

// Never NULL; valid until the next failing call of the same thread.
const char* tribo_view_error(void);

// ---- what is to be seen --------------------------------------------------------------------------------------------

// Things drawn over the bodies, whose hidden parts shine through, and other ways to draw the bodies themselves:
// X(id, GLFW key, name of the key, name, what it shows)
#define TRIBO_OVERLAYS(X)                                                                                    \
  X(CONTACTS, 1, "1", "contacts", "contact points: green sticks, orange slides, grey breaks away")           \
  X(FORCES, 2, "2", "forces", "contact forces on the body the normal points to")                             \
  X(NORMALS, 3, "3", "normals", "contact normals")                                                           \
  X(CONES, 4, "4", "cones", "friction cones of the contacts that carry something")                           \
  X(FRAMES, 5, "5", "frames", "body frames: x red, y green, z blue")                                         \
  X(COM, 6, "6", "com", "centres of mass")                                                                   \
  X(INERTIA, 7, "7", "inertia", "ellipsoids of the bodies' inertia: solid ones of their mass")               \
  X(JOINTS, 8, "8", "joints", "joint axes, and limits with the present position between them")               \
  X(EFFORTS, E, "E", "efforts", "efforts of joints along their axes: of motors, controllers, actuators")     \
  X(CLOSURES, 9, "9", "closures", "loop closures: the points they hold, and the bodies they tie")            \
  X(AABB, 0, "0", "aabb", "bounding boxes of the shapes that collide")                                       \
  X(ISLANDS, I, "I", "islands", "bodies coloured by island; grey: nothing touches them")                     \
  X(PENETRATION, P, "P", "penetration", "bodies coloured by penetration: blue 1 µm, green 0.1 mm, red 1 cm") \
  X(WIREFRAME, W, "W", "wireframe", "bodies as wires")                                                       \
  X(TRANSPARENT, T, "T", "transparent", "bodies as glass")                                                   \
  X(COLLISION, K, "K", "collision", "shapes that collide, where a body has others to be looked at")          \
  X(TRAILS, L, "L", "trails", "where the centres of mass have been")
typedef enum TriboOverlay {
#define X(id, key, key_name, name, doc) TRIBO_OVERLAY_##id,
  TRIBO_OVERLAYS(X)
#undef X
      TRIBO_OVERLAY_COUNT
} TriboOverlay;
const char* tribo_view_overlay_name(TriboOverlay overlay);
// "contacts,forces" → bits 1 << TRIBO_OVERLAY_…
TRIBO_NODISCARD TriboStatus tribo_view_overlay_parse(const char* text, unsigned* overlays);

// A vertex of a unit mesh lands at  position + rotation (xyz ∘ scale.xyz + (0, 0, w scale.w)):  w lets capsules and
// arrows grow longer without growing thicker.
typedef struct TriboDrawVertex {
  float xyz[3], w;
  float normal[3];
  float edge[2];  // reaches ±1 at the sharp edges of the face, 0 where there are none
  float uv[2];    // point of the texture, for meshes that have them
} TriboDrawVertex;

typedef enum TriboDrawMeshId {
  TRIBO_MESH_SPHERE,    // radius 1
  TRIBO_MESH_DOT,       // the same with fewer triangles: the renderer takes it for spheres of a few pixels
  TRIBO_MESH_BOX,       // half lengths 1
  TRIBO_MESH_CAPSULE,   // radius 1, half length w
  TRIBO_MESH_CYLINDER,  // radius 1, half length 1
  TRIBO_MESH_CONE,      // radius 1 at z = −1, apex at z = 1
  TRIBO_MESH_ARROW,     // from the origin along z, thickness 1, length w
  TRIBO_MESH_PLANE,     // solid below z = 0, without end
  TRIBO_MESH_BUILTIN    // hulls follow
} TriboDrawMeshId;

typedef struct TriboDrawMesh {
  int first_vertex, nvertex;
  int first_index, nindex;  // triangles, counter-clockwise from outside, indices from the mesh's first vertex
  int open;                 // 1: of a file, seen from both sides
  double lo[3], hi[3];      // box around the vertices of hulls and files
} TriboDrawMesh;

// How a texture lies on a shape.
typedef enum TriboTextureMapping {
  TRIBO_MAPPING_NONE,
  TRIBO_MAPPING_POINTS,  // by the vertices' own points
  TRIBO_MAPPING_ABOVE,   // as seen along z, the middle of the picture at the origin
  TRIBO_MAPPING_CUBE,    // on the six sides of a cube around the origin
  TRIBO_MAPPING_HEIGHT   // around it, by height alone
} TriboTextureMapping;

typedef struct TriboTexture {
  int width, height;
  unsigned char* rgba;  // (height × width × 4) rows from the top, sRGB
} TriboTexture;

typedef struct TriboDrawInstance {
  int mesh;
  int overlay;                        // 1: drawn over the bodies, without a shadow
  int of;                             // shape that it is, −1: a visual; overlays: contact that it marks, −1: none
  int body;                           // that it belongs to; TRIBO_WORLD: none
  double position[3], quaternion[4];  // world
  float scale[4];
  float color[4];               // as the screen shows it (sRGB); alpha < 1 is drawn last
  int texture;                  // 1 + that of the list which the colour is multiplied with, 0: none
  TriboTextureMapping mapping;  // how the texture lies
  float repeat[2];              // of a flat one [1/m], or times the points of the mesh
} TriboDrawInstance;

typedef struct TriboDrawList TriboDrawList;
// Takes the meshes of a model's shapes and visuals; equal ones share one.
TRIBO_NODISCARD TriboStatus tribo_view_list_create(const TriboModel* model, TriboDrawList** out);
void tribo_view_list_destroy(TriboDrawList* list);

// Where the centres of mass have been, for the overlay of that name: whoever steps adds states, whoever draws hands
// them on. The last two seconds are kept, fewer for a crowd.
typedef struct TriboTrails TriboTrails;
TRIBO_NODISCARD TriboStatus tribo_view_trails_create(const TriboModel* model, TriboTrails** out);
void tribo_view_trails_destroy(TriboTrails* trails);
// Looks at the current state; takes it when 1/60 s has passed since the last one. Going back in time starts them again.
TRIBO_NODISCARD TriboStatus tribo_view_trails_add(TriboTrails* trails, const TriboModel* model, TriboData* data);

typedef struct TriboDrawOptions {
  unsigned overlays;
  double size;         // how much of the world the picture shows, for the size of marks [m]; 0: the scene's diagonal
  double force_scale;  // [m/N]; 0: the largest force of the frame is a quarter of size
  int selected;        // 1 + the body that stands out, 0: none
  int contact;         // 1 + the contact that stands out, 0: none
  const TriboTrails* trails;         // NULL: none
  const double* net;                 // (nbody × 6) as in the facts, copied; NULL: not known
  const double* efforts;             // (nv) of joints, instead of what drives them in the scene; NULL: that
  const TriboContactView* contacts;  // (ncontact) instead of those of the data, copied; NULL: the data's
  int ncontact;
} TriboDrawOptions;
// Replaces the instances by those of the current state.
TRIBO_NODISCARD TriboStatus tribo_view_list_fill(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                                 const TriboDrawOptions* options);

const TriboDrawInstance* tribo_view_list_instances(const TriboDrawList* list, int* count);
const TriboDrawMesh* tribo_view_list_meshes(const TriboDrawList* list, int* count);
const TriboDrawVertex* tribo_view_list_vertices(const TriboDrawList* list, int* count);
const unsigned* tribo_view_list_indices(const TriboDrawList* list, int* count);
const TriboTexture* tribo_view_list_textures(const TriboDrawList* list, int* count);
// Colours of the sky, linear: straight up, at the horizon, straight down; and 1 + the texture that is it, 0: none.
typedef struct TriboDrawSky {
  float zenith[3], horizon[3], nadir[3];
  int texture;
} TriboDrawSky;
const TriboDrawSky* tribo_view_list_sky(const TriboDrawList* list);
// The state behind the picture, copied when the list was filled: a simulation may continue while it is looked at.
typedef struct TriboDrawFacts {
  const TriboModel* model;
  double time;
  uint64_t hash;  // of the state, as tribo_data_hash
  const TriboContactView* contacts;
  int ncontact;
  const double *position, *quaternion, *velocity, *omega;  // (nbody × 3, 4, 3, 3)
  const double* net;  // (nbody × 6) all forces and torques about the centre of mass; NULL: no step has led here
} TriboDrawFacts;
const TriboDrawFacts* tribo_view_list_facts(const TriboDrawList* list);

// The contacts in the order of a column, for tables.
typedef enum TriboContactColumn {
  TRIBO_COLUMN_BODIES,
  TRIBO_COLUMN_MODE,
  TRIBO_COLUMN_FORCE,
  TRIBO_COLUMN_NORMAL_FORCE,
  TRIBO_COLUMN_GAP,
  TRIBO_COLUMN_ISLAND,
  TRIBO_COLUMN_COUNT
} TriboContactColumn;
// order (ncontact) receives indices of contacts; equal ones stay in their own order.
void tribo_view_contacts_sort(const TriboDrawFacts* facts, TriboContactColumn column, int descending, int* order);
// What touches: names of bodies, of shapes where the world does. The sum of what the contacts do to a body: force, and
// torque about its centre of mass.
const char* tribo_view_contact_name(const TriboModel* model, int body, int shape);
void tribo_view_contact_wrench(const TriboDrawFacts* facts, int body, double force[3], double torque[3]);
// What acts on a body, each as force and torque about its centre of mass, means over the last step [N, N m]. 0: the sum
// is not known, and with it what is left.
typedef struct TriboBodyForces {
  double gravity[6], contacts[6];
  double others[6];  // joints, motors, closures, drag, forces of the scene, the mouse
  double net[6];
} TriboBodyForces;
int tribo_view_body_forces(const TriboDrawFacts* facts, int body, TriboBodyForces* out);
void tribo_view_body_centre(const TriboDrawFacts* facts, int body, double centre[3]);

// What a ray meets first: a contact's mark, even behind a body, or else a shape; glass that never moves is no
// hindrance.
typedef struct TriboHit {
  int shape, body;  // −1: none, or a visual; body of what is static: TRIBO_WORLD
  int contact;      // −1: none
  double point[3];
  double distance;  // along the direction as it was given
} TriboHit;
int tribo_view_pick(const TriboDrawList* list, const double origin[3], const double direction[3], TriboHit* hit);
// The ray through a point of the picture: (−1, −1) is its lower left corner, (1, 1) its upper right.
void tribo_view_camera_ray(const TriboCameraDef* camera, double aspect, double x, double y, double direction[3]);

// The box around everything that is neither a plane nor an overlay; 0: there is nothing.
int tribo_view_list_bounds(const TriboDrawList* list, double lo[3], double hi[3]);
// Where the sky is: against gravity, or z.
const double* tribo_view_list_up(const TriboDrawList* list);

// A camera of the scene by name or index ("0"); NULL: the first one. "auto", and NULL when there is none: index −1.
TRIBO_NODISCARD TriboStatus tribo_view_camera_find(const TriboModel* model, const char* which, int* index);
// The same camera where it is at the list's state; index −1: one that sees everything.
TRIBO_NODISCARD TriboStatus tribo_view_camera(const TriboModel* model, const TriboDrawList* list, const char* which,
                                              double aspect, TriboCameraDef* camera);

// Whether a camera is mounted (moves with a body, or looks at one), and where it is at a state.
int tribo_view_camera_is_mounted(const TriboCameraDef* camera);
void tribo_view_camera_place_mounted(const TriboDrawFacts* facts, const TriboCameraDef* mounted, TriboCameraDef* out);

// ---- the picture ---------------------------------------------------------------------------------------------------

typedef struct TriboImage {
  int width, height;
  unsigned char* rgb;  // (height × width × 3) rows from the top
} TriboImage;
TRIBO_NODISCARD TriboStatus tribo_view_image_create(int width, int height, TriboImage* image);
void tribo_view_image_destroy(TriboImage* image);
// The mean of factor × factor pixels, taken in linear light. small has the size wanted.
TRIBO_NODISCARD TriboStatus tribo_view_image_shrink(const TriboImage* large, int factor, TriboImage* small);
TRIBO_NODISCARD TriboStatus tribo_view_image_write(const TriboImage* image, const char* path);  // PNG
// The picture as a `data:` address for HTML, to be freed.
TRIBO_NODISCARD TriboStatus tribo_view_image_embed(const TriboImage* image, char** address);

// An OpenGL context without window or display (EGL surfaceless), current in this thread until it is destroyed.
typedef struct TriboOffscreen TriboOffscreen;
TRIBO_NODISCARD TriboStatus tribo_view_offscreen_create(TriboOffscreen** out);
void tribo_view_offscreen_destroy(TriboOffscreen* context);

// All calls need the context in which the renderer was created to be current.
typedef struct TriboRenderer TriboRenderer;
TRIBO_NODISCARD TriboStatus tribo_view_renderer_create(const TriboDrawList* list, TriboRenderer** out);
void tribo_view_renderer_destroy(TriboRenderer* renderer);
// Draws the list into the image, which says the size.
TRIBO_NODISCARD TriboStatus tribo_view_renderer_draw(TriboRenderer* renderer, const TriboDrawList* list,
                                                     const TriboCameraDef* camera, TriboImage* image);
// The same to the window whose context is current, without reading it back.
TRIBO_NODISCARD TriboStatus tribo_view_renderer_show(TriboRenderer* renderer, const TriboDrawList* list,
                                                     const TriboCameraDef* camera, int width, int height);
int tribo_view_renderer_calls(const TriboRenderer* renderer);  // draw calls of the last picture

// ---- a running simulation ------------------------------------------------------------------------------------------

// Makes the scene, at the start and whenever its file has changed; tribo_last_error() says what is wrong with it.
typedef TriboStatus TriboSceneFn(void* user, TriboScene** out);

// A motion that is shown instead of simulated: puts a row of it into the data. The time between rows is the model's dt.
typedef struct TriboReplay {
  long long last;                    // row
  const TriboContactView* contacts;  // (ncontact) to draw, until the next call
  int ncontact;
  const double* efforts;  // (nv) the same of joints; NULL: not known
  char text[512];         // on failure: what is wrong
} TriboReplay;
typedef TriboStatus TriboReplayFn(void* user, const TriboModel* model, TriboData* data, long long row,
                                  TriboReplay* out);

typedef struct TriboPlayerDef {
  TriboSceneFn* scene;
  TriboReplayFn* replay;  // NULL: it is simulated
  void* user;
  const char* watch;  // file whose changes reload the scene; NULL: none
  const char* state;  // saved state to start from; NULL: the scene's own
  int paused;
} TriboPlayerDef;

// Physics in its own thread, paced by the clock; it never waits for pictures.
typedef struct TriboPlayer TriboPlayer;
TRIBO_NODISCARD TriboStatus tribo_view_player_create(const TriboPlayerDef* def, TriboPlayer** out);
void tribo_view_player_destroy(TriboPlayer* player);  // waits for the step in progress

typedef enum TriboPlayerCommand {
  TRIBO_PLAYER_PAUSE,    // value 1: stand still, 0: continue
  TRIBO_PLAYER_SPEED,    // value: simulated seconds per second, 1/16 … 16; more: as fast as it goes
  TRIBO_PLAYER_STEP,     // pause, and do `value` steps
  TRIBO_PLAYER_BACK,     // pause, and undo `value` steps
  TRIBO_PLAYER_SEEK,     // value: row of a recorded motion to go to
  TRIBO_PLAYER_RESET,    // back to the start
  TRIBO_PLAYER_RELOAD,   // make the scene again
  TRIBO_PLAYER_SOLVER,   // text: id
  TRIBO_PLAYER_SET,      // text: a world setting that is a number; value
  TRIBO_PLAYER_MOTOR,    // index: motor; value: target
  TRIBO_PLAYER_CONTROL,  // index: actuator; value: control
  TRIBO_PLAYER_DROP,     // index: TRIBO_SHAPE_BOX or _SPHERE; point; value: width [m]
  TRIBO_PLAYER_PUSH,     // index: body; point; vector: speed it is to gain [m/s]
  TRIBO_PLAYER_GRAB,     // index: body; point; vector: where to pull it by a spring
  TRIBO_PLAYER_PULL,     // vector: where to now
  TRIBO_PLAYER_RELEASE,  // what was grabbed
  TRIBO_PLAYER_SAVE,     // text: file for the current state
  TRIBO_PLAYER_HISTORY,  // value 1: note residuals iteration by iteration
} TriboPlayerCommand;
typedef struct TriboOrder {
  TriboPlayerCommand command;
  int index;
  double value, point[3], vector[3];
  char text[256];
} TriboOrder;
// Carried out in the order they came, between two steps. What fails shows in the status.
void tribo_view_player_order(TriboPlayer* player, const TriboOrder* order);
void tribo_view_player_send(TriboPlayer* player, TriboPlayerCommand command, double value);

typedef struct TriboPlayerStatus {
  int paused;
  int busy;            // orders are still being carried out
  double speed, time;  // speed INFINITY: as fast as it goes
  double rate;         // simulated seconds per second as measured
  long long steps;     // since the start, the last reset or reload; of a recorded motion: the row
  long long rows;      // of a recorded motion, 0: it is simulated
  int kept;            // states to step back through
  TriboStepInfo info;  // of the last step
  char failure[256];   // why it stopped, "" while all is well
  char notice[512];    // what became of the last order or reload, "" for nothing to say
  int wrong;           // the notice is a complaint
} TriboPlayerStatus;
TriboPlayerStatus tribo_view_player_status(TriboPlayer* player);

// How it went of late, for plots. Rings: the oldest value of a curve stands at `at`.
enum {
  TRIBO_CHART_STEPS = 240,
  TRIBO_CHART_CURVES = 24,
  TRIBO_CHART_NAME = 64,
  TRIBO_CHART_ITERATIONS = 512,
  TRIBO_CHART_MOTORS = 64
};
typedef struct TriboCharts {
  int step_at, nstep;                                                // step by step
  float stage[TRIBO_STAGE_COUNT][TRIBO_CHART_STEPS];                 // [ms]
  float iterations[TRIBO_CHART_STEPS], residual[TRIBO_CHART_STEPS];  // log10 of nat
  int ncurve, curve_at, ncurve_point;  // every 1/60 s: what the scene records and its sensors read
  char name[TRIBO_CHART_CURVES][TRIBO_CHART_NAME];
  float curve[TRIBO_CHART_CURVES][TRIBO_CHART_STEPS];
  int niteration;  // of the longest solve of the last step: log10 of nat
  float iteration[TRIBO_CHART_ITERATIONS];
  int nmotor, nactuator;  // the first of them: where motors are sent, controls of actuators
  float motor[TRIBO_CHART_MOTORS], control[TRIBO_CHART_MOTORS];
} TriboCharts;
void tribo_view_player_charts(TriboPlayer* player, TriboCharts* out);

// The newest picture there is, valid until the next call; asks for a newer one. Options are for that one.
const TriboDrawList* tribo_view_player_list(TriboPlayer* player, const TriboDrawOptions* options);
// The same for those who have time: waits until all orders are carried out, and for a picture of the state after them.
const TriboDrawList* tribo_view_player_wait(TriboPlayer* player, const TriboDrawOptions* options);

// ---- the window ----------------------------------------------------------------------------------------------------

// What one can do: X(id, GLFW key, name of the key, what it does). The overlays follow.
#define TRIBO_ACTIONS(X)                                         \
  X(PAUSE, SPACE, "space", "pause or continue")                  \
  X(STEP, RIGHT, "right", "one step")                            \
  X(BACK, LEFT, "left", "one step back")                         \
  X(STEPS, PAGE_DOWN, "page down", "a hundred steps")            \
  X(BACKS, PAGE_UP, "page up", "a hundred steps back")           \
  X(FASTER, UP, "up", "twice as fast")                           \
  X(SLOWER, DOWN, "down", "half as fast")                        \
  X(FASTEST, M, "M", "as fast as it goes, or as the clock")      \
  X(RESET, R, "R", "back to the start")                          \
  X(RELOAD, F5, "F5", "reload the scene")                        \
  X(CAMERA, C, "C", "next camera of the scene")                  \
  X(FIT, F, "F", "see everything")                               \
  X(TRACK, G, "G", "follow the selected body, or no more")       \
  X(BOX, B, "B", "drop a box where the mouse is")                \
  X(BALL, N, "N", "drop a ball where the mouse is")              \
  X(SAVE, F2, "F2", "save the state; `--load` starts from it")   \
  X(PICTURE, F3, "F3", "save a picture")                         \
  X(FILM, F4, "F4", "film the seconds to come, or end the film") \
  X(PANELS, TAB, "tab", "all panels, or none")                   \
  X(HELP, F1, "F1", "these keys")                                \
  X(CLOSE, ESCAPE, "escape", "close the window")
typedef enum TriboAction {
#define X(id, key, name, doc) TRIBO_ACTION_##id,
  TRIBO_ACTIONS(X)
#undef X
      TRIBO_ACTION_OVERLAY,  // first of the overlays
  TRIBO_ACTION_COUNT = TRIBO_ACTION_OVERLAY + TRIBO_OVERLAY_COUNT
} TriboAction;
int tribo_view_action_code(int action);  // GLFW's number of the key
const char* tribo_view_action_key(int action);
const char* tribo_view_action_doc(int action);

typedef struct TriboWindowDef {
  const char* title;
  const char* stem;  // of the names of files that are saved, "tower"
  int width, height;
  int panels;          // 1: all panels are open at the start
  const char* camera;  // as for tribo_view_camera
  TriboDrawOptions options;
  TriboPlayerDef player;
} TriboWindowDef;
typedef struct TriboWindow TriboWindow;
// Opens a window and starts to play. One window at a time.
TRIBO_NODISCARD TriboStatus tribo_view_window_open(const TriboWindowDef* def, TriboWindow** out);
// Handles what was typed and shows one picture; *open becomes 0 when the user wants it closed.
TRIBO_NODISCARD TriboStatus tribo_view_window_frame(TriboWindow* window, int* open);
void tribo_view_window_close(TriboWindow* window);
// X ends a program whose display has gone, unless this function does it before. To be called before a window is opened.
void tribo_view_window_on_lost(void (*lost)(void));

// For tests: what the window shows and holds.
typedef struct TriboWindowState {
  TriboCameraDef camera;
  unsigned overlays;
  int selected, tracked;  // bodies, −1: none
  int contact;            // selected, −1: none
  int filming;
  unsigned panels;  // bits by the place in the list of panels
  char hover[160];  // what the mouse points at
  char notice[512];
} TriboWindowState;
TriboWindowState tribo_view_window_state(const TriboWindow* window);
// Draws, and looks at one pixel with its panels, counted from the upper left.
TRIBO_NODISCARD TriboStatus tribo_view_window_read(TriboWindow* window, int x, int y, unsigned char rgb[3]);
TriboPlayer* tribo_view_window_player(TriboWindow* window);

// ---- film ----------------------------------------------------------------------------------------------------------

// Frames go to ffmpeg through a pipe and become an H.264 MP4. Width and height must be even.
typedef struct TriboVideo TriboVideo;
TRIBO_NODISCARD TriboStatus tribo_view_video_open(const char* path, int width, int height, double fps,
                                                  TriboVideo** out);
TRIBO_NODISCARD TriboStatus tribo_view_video_add(TriboVideo* video, const TriboImage* image);
TRIBO_NODISCARD TriboStatus tribo_view_video_close(TriboVideo* video);  // waits for ffmpeg; frees also on failure

// ---- a page for the browser ----------------------------------------------------------------------------------------

// One HTML file that plays a motion, with a camera one can turn; it loads nothing from anywhere. Lists are all of one
// model.
typedef struct TriboPage TriboPage;
TRIBO_NODISCARD TriboStatus tribo_view_page_open(const char* path, const char* title, const TriboDrawList* list,
                                                 const TriboCameraDef* camera, double fps, TriboPage** out);
TRIBO_NODISCARD TriboStatus tribo_view_page_add(TriboPage* page, const TriboDrawList* list);  // the next frame
TRIBO_NODISCARD TriboStatus tribo_view_page_close(TriboPage* page);  // writes it; frees also on failure

#ifdef __cplusplus
}
#endif
