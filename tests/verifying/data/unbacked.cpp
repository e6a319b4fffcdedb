// What AOTInductor of torch 2.14.1 generated for a program with unbacked sizes; without helpers and texts of exceptions.

AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::shared_ptr<std::vector<ConstantHandle>> constants_array,
                                   const std::string& device_str,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(4,
                           5,
                           0,
                           device_str,
                           std::move(cubin_dir),
                           true) {
    inputs_info_[0].name = "arg0_1";
    inputs_info_[1].name = "arg1_1";
    inputs_info_[2].name = "arg2_1";
    inputs_info_[3].name = "arg3_1";
    update_constants_map(std::move(constants_map));
    update_constants_array(std::move(constants_array));
    in_spec_ = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}, {"type": "builtins.dict", "context": "[\"p\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}]}, {"type": null, "context": null, "children_spec": []}]}, {"type": "builtins.dict", "context": "[\"k\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}]}]}])";
    out_spec_ = R"([1, {"type": "builtins.dict", "context": "[\"s\", \"q\", \"n\", \"z\"]", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}, {"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}])";
    outputs_info_[0].name = "output0";
    outputs_info_[1].name = "output1";
    outputs_info_[2].name = "output2";
    outputs_info_[3].name = "output3";
    outputs_info_[4].name = "output4";
    this->kernels_ = std::make_unique<AOTInductorModelKernels>();
}

AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg0_1 = ConstantHandle(input_handles[0]);
    int32_t arg0_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg0_1, &arg0_1_dtype));

    int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg0_1_expected_dtype != arg0_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg0_1_size = arg0_1.sizes();

    if (arg0_1_size[0] < 1) {
        throw std::runtime_error("…");
    }

    if (arg0_1_size[0] > 32) {
        throw std::runtime_error("…");
    }

    if (arg0_1_size[1] < 2) {
        throw std::runtime_error("…");
    }
    auto arg0_1_stride = arg0_1.strides();

    if (1 != arg0_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg0_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg0_1, &arg0_1_device_type));

    int32_t arg0_1_expected_device_type = 0;
    if (arg0_1_expected_device_type != arg0_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_1(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg1_1 = ConstantHandle(input_handles[1]);
    int32_t arg1_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg1_1, &arg1_1_dtype));

    int32_t arg1_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg1_1_expected_dtype != arg1_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg1_1_size = arg1_1.sizes();

    if (arg1_1_size[0] < 4) {
        throw std::runtime_error("…");
    }

    if (2 != arg1_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg1_1_stride = arg1_1.strides();

    if (2 != arg1_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg1_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg1_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg1_1, &arg1_1_device_type));

    int32_t arg1_1_expected_device_type = 0;
    if (arg1_1_expected_device_type != arg1_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_2(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg2_1 = ConstantHandle(input_handles[2]);
    int32_t arg2_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg2_1, &arg2_1_dtype));

    int32_t arg2_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg2_1_expected_dtype != arg2_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg2_1_size = arg2_1.sizes();

    if (arg2_1_size[0] < 2) {
        throw std::runtime_error("…");
    }

    if (3 != arg2_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg2_1_stride = arg2_1.strides();

    if (3 != arg2_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg2_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg2_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg2_1, &arg2_1_device_type));

    int32_t arg2_1_expected_device_type = 0;
    if (arg2_1_expected_device_type != arg2_1_device_type) {
        throw std::runtime_error("…");
    }
}

AOTI_NOINLINE static void check_input_3(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg3_1 = ConstantHandle(input_handles[3]);
    int32_t arg3_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg3_1, &arg3_1_dtype));

    int32_t arg3_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg3_1_expected_dtype != arg3_1_dtype) {
        throw std::runtime_error("…");
    }
    auto arg3_1_size = arg3_1.sizes();

    if (arg3_1_size[0] < 1) {
        throw std::runtime_error("…");
    }

    if (arg3_1_size[0] > 32) {
        throw std::runtime_error("…");
    }

    if (7 != arg3_1_size[1]) {
        throw std::runtime_error("…");
    }
    auto arg3_1_stride = arg3_1.strides();

    if (7 != arg3_1_stride[0]) {
        throw std::runtime_error("…");
    }

    if (1 != arg3_1_stride[1]) {
        throw std::runtime_error("…");
    }
    int32_t arg3_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg3_1, &arg3_1_device_type));

    int32_t arg3_1_expected_device_type = 0;
    if (arg3_1_expected_device_type != arg3_1_device_type) {
        throw std::runtime_error("…");
    }
}

static bool _check_aoti_runtime_check_inputs_env() {
    const static char* env_var_value = getenv("AOTI_RUNTIME_CHECK_INPUTS");
    const static bool result = env_var_value != nullptr && env_var_value[0] != '0';
    return result;
}

AOTI_NOINLINE static void __check_inputs_outputs(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles) {
    if (!_check_aoti_runtime_check_inputs_env()){
        return;
    }
    check_input_0(input_handles);
    check_input_1(input_handles);
    check_input_2(input_handles);
    check_input_3(input_handles);
}

void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles, // array of input AtenTensorHandle; handles
                        // are stolen; the array itself is borrowed
    AtenTensorHandle*
        output_handles, // array for writing output AtenTensorHandle; handles
                        // will be stolen by the caller; the array itself is
                        // borrowed
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    __check_inputs_outputs(input_handles, output_handles);
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 4);
    auto arg0_1 = std::move(inputs[0]);
    auto arg1_1 = std::move(inputs[1]);
    auto arg2_1 = std::move(inputs[2]);
    auto arg3_1 = std::move(inputs[3]);
    auto arg0_1_size = arg0_1.sizes();
    int64_t u0 = arg0_1_size[0];
    int64_t u1 = arg0_1_size[1];
    auto arg1_1_size = arg1_1.sizes();
    int64_t u2 = arg1_1_size[0];
    inputs.clear();
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    if (!(u0 >= 1L)) { throw std::runtime_error("Expected u0 >= 1 to be True but received " + std::to_string(u0)); }
    if (!(u0 <= 32L)) { throw std::runtime_error("Expected u0 <= 32 to be True but received " + std::to_string(u0)); }
    if (!(u1 >= 2L)) { throw std::runtime_error("Expected u1 >= 2 to be True but received " + std::to_string(u1)); }
    if (!((u1 % 3L) != 1L)) { throw std::runtime_error("Expected Ne(Mod(u1, 3), 1) to be True but received " + std::to_string(u1)); }
    if (!(1L + u0 <= u1 || 3L + u1 <= u0)) { throw std::runtime_error("Expected (u0 + 1 <= u1) | (u1 + 3 <= u0) to be True but received " + std::to_string(u1)); }
    if (!(u2 >= 4L)) { throw std::runtime_error("Expected u2 >= 4 to be True but received " + std::to_string(u2)); }
    if (!((u2 % 2L) == 0L)) { throw std::runtime_error("Expected Eq(Mod(u2, 2), 0) to be True but received " + std::to_string(u2)); }
    if (!((u2 % 4L) == 0L)) { throw std::runtime_error("Expected Eq(Mod(u2, 4), 0) to be True but received " + std::to_string(u2)); }
    if (!(((2L*u2) % 4L) == 0L)) { throw std::runtime_error("Expected Eq(Mod(2*u2, 4), 0) to be True but received " + std::to_string(u2)); }
    if (!(u2 == (2L*(c10::div_floor_integer(static_cast<int64_t>(u2), static_cast<int64_t>(2L)))))) { throw std::runtime_error("Expected Eq(u2, 2*((u2//2))) to be True but received " + std::to_string(u2)); }
    if (!(u1 >= 2L)) { throw std::runtime_error("Expected u1 >= 2 to be True but received " + std::to_string(u1)); }
    if (!(u0 >= 1L)) { throw std::runtime_error("Expected u0 >= 1 to be True but received " + std::to_string(u0)); }
    if (!(u0 <= 32L)) { throw std::runtime_error("Expected u0 <= 32 to be True but received " + std::to_string(u0)); }
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg2_1, {u1, 3L}, {3L, 1L}, "input"); }
    // Topologically Sorted Source Nodes: [nonzero], Original ATen: [aten.nonzero]
    AtenTensorHandle buf13_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_nonzero(arg2_1, &buf13_handle));
    RAIIAtenTensorHandle buf13(buf13_handle);
    auto u5 = buf13.size(0);
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf13, {u5, 2L}, {1L, u5}, "torch.ops.aten.nonzero.default", cached_torch_dtype_int64, "torch.int64"); }
    if (!(u5 >= 0L)) { throw std::runtime_error("Expected u5 >= 0 but received " + std::to_string(u5)); }
    if (!(u5 <= 9223372036854775806L)) { throw std::runtime_error("Expected u5 <= 9223372036854775806 but received " + std::to_string(u5)); }
    if (!(u5 >= 0L)) { throw std::runtime_error("Expected u5 >= 0 to be True but received " + std::to_string(u5)); }
    static constexpr int64_t *int_array_0=nullptr;
    AtenTensorHandle buf17_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(0, int_array_0, int_array_0, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf17_handle));
    RAIIAtenTensorHandle buf17(buf17_handle);
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg0_1, {u0, u1}, {u1, 1L}, "input"); }
    const int64_t int_array_1[] = {u0, (-1L) + u1};
    const int64_t int_array_2[] = {(-1L) + u1, 1L};
    AtenTensorHandle buf19_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_1, int_array_2, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf19_handle));
    RAIIAtenTensorHandle buf19(buf19_handle);
    const int64_t int_array_3[] = {2L, u0, u1};
    const int64_t int_array_4[] = {u0*u1, u1, 1L};
    AtenTensorHandle buf18_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(3, int_array_3, int_array_4, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf18_handle));
    RAIIAtenTensorHandle buf18(buf18_handle);
    cpp_fused_add_cat_slice_sum_0((const float*)(arg2_1.data_ptr()), (const float*)(arg0_1.data_ptr()), (float*)(buf17.data_ptr()), (float*)(buf19.data_ptr()), (float*)(buf18.data_ptr()), u1, u0);
    arg2_1.reset();
    const int64_t int_array_5[] = {c10::div_floor_integer(static_cast<int64_t>(u2), static_cast<int64_t>(2L)), 4L};
    static constexpr int64_t int_array_6[] = {4L, 1L};
    const int64_t int_array_7[] = {2L*u0, u1};
    const int64_t int_array_8[] = {u1, 1L};
    auto var_0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg1_1, 2, int_array_5, int_array_6, 0L));
    auto var_1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf18, 2, int_array_7, int_array_8, 0L));
    output_handles[0] = buf19.release();
    output_handles[1] = var_0.release();
    output_handles[2] = var_1.release();
    output_handles[3] = arg0_1.release();
    output_handles[4] = buf13.release();
} // AOTInductorModel::run_impl
